import Database
import Foundation
import GRDB

extension DiskStore {
    /// Returns a download of an account; nil if there is none.
    func download(_ id: String, account: String) throws -> DownloadJob? {
        try database.read { db in
            try DownloadJob.fetchOne(
                db,
                sql: "SELECT * FROM disk_download WHERE id = ? AND account = ?",
                arguments: [id, account]
            )
        }
    }

    /// Returns the download of a version of a file that is in progress, or that is done if `job` is; else stores `job`.
    /// All requests for a version share one download.
    ///
    /// - Returns: Nil if the account was logged out meanwhile.
    func share(_ job: DownloadJob, at now: Date) async throws -> (job: DownloadJob, isNew: Bool)? {
        try await database.write { db in
            guard try Self.epoch(of: job.account, db) != nil else { return nil }
            let arguments: StatementArguments = [job.account, job.path.text, job.version, job.status.rawValue]
            if let shared = try DownloadJob.fetchOne(db, sql: Self.selectShared, arguments: arguments) {
                return (shared, false)
            }
            try db.execute(
                sql: "DELETE FROM disk_download WHERE account = ? AND status IN ('done', 'failed') AND created_at < ?",
                arguments: [job.account, now.addingTimeInterval(-7 * 86_400).millisecondsSince1970]
            )
            try db.execute(
                sql: """
                    INSERT INTO disk_download
                        (id, account, path, version, status, bytes_done, bytes_total, failure, created_at)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    job.id, job.account, job.path.text, job.version, job.status.rawValue, job.bytesDone, job.bytesTotal,
                    job.failure?.rawValue,
                    now.millisecondsSince1970,
                ]
            )
            return (job, true)
        }
    }

    static let selectShared = """
        SELECT * FROM disk_download WHERE account = ? AND path = ? AND version = ?
        AND (status IN ('queued', 'running') OR (status = 'done' AND ? = 'done'))
        ORDER BY status = 'done', created_at DESC LIMIT 1
        """

    /// Stores the state of a download.
    ///
    /// - Returns: False if it does not exist, or has already ended.
    @discardableResult
    func note(_ job: DownloadJob) async throws -> Bool {
        try await database.write { db in
            try db.execute(
                sql: """
                    UPDATE disk_download SET status = ?, bytes_done = ?, failure = ?
                    WHERE id = ? AND status IN ('queued', 'running')
                    """,
                arguments: [job.status.rawValue, job.bytesDone, job.failure?.rawValue, job.id]
            )
            return db.changesCount > 0
        }
    }

    /// Returns the downloads that an earlier run of the server left unfinished.
    func unfinishedDownloads() throws -> [DownloadJob] {
        try database.read { db in
            try DownloadJob.fetchAll(
                db,
                sql: "SELECT * FROM disk_download WHERE status IN ('queued', 'running') ORDER BY created_at, id"
            )
        }
    }

    /// Returns an operation of an account; nil if there is none.
    func operation(_ id: String, account: String) throws -> DiskOperation? {
        try database.read { db in
            try DiskOperation.fetchOne(
                db,
                sql: "SELECT * FROM disk_operation WHERE id = ? AND account = ?",
                arguments: [id, account]
            )
        }
    }

    /// Stores an operation that continues; the latest 1,000 of an account are kept.
    func keep(_ operation: DiskOperation, at now: Date) async throws {
        try await database.write { db in
            guard try Self.epoch(of: operation.account, db) != nil else { return }
            try db.execute(
                sql: """
                    INSERT INTO disk_operation (id, account, upstream_id, action, path, target, status, created_at)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    operation.id, operation.account, operation.upstreamID, operation.action.rawValue,
                    operation.path.text, operation.target?.text,
                    operation.status.rawValue, now.millisecondsSince1970,
                ]
            )
            try db.execute(
                sql: """
                    DELETE FROM disk_operation WHERE id IN (
                        SELECT id FROM disk_operation WHERE account = ?
                        ORDER BY created_at DESC, id LIMIT -1 OFFSET 1000
                    )
                    """,
                arguments: [operation.account]
            )
        }
    }

    /// Ends an operation, once.
    ///
    /// - Returns: False if another request has ended it before.
    func finish(_ operation: DiskOperation, as status: DiskOperation.Status) async throws -> Bool {
        // Also on a full disk: it has ended at the API.
        try await database.writeFreeingRoom { db in
            try db.execute(
                sql: "UPDATE disk_operation SET status = ? WHERE id = ? AND account = ? AND status = 'running'",
                arguments: [status.rawValue, operation.id, operation.account]
            )
            return db.changesCount > 0
        }
    }
}

extension DownloadJob: FetchableRecord {
    /// Reads a row of table `disk_download`.
    init(row: Row) throws {
        try self.init(
            id: row.value("id"),
            account: row.value("account"),
            path: row.value("path") { DiskPath($0) },
            version: row.value("version"),
            bytesTotal: row.value("bytes_total"),
            status: row.value("status", Status.init(rawValue:)),
            bytesDone: row.value("bytes_done"),
            failure: (row.value("failure") as String?).flatMap(Failure.init)
        )
    }
}

extension DiskOperation: FetchableRecord {
    /// Reads a row of table `disk_operation`.
    init(row: Row) throws {
        try self.init(
            id: row.value("id"),
            account: row.value("account"),
            upstreamID: row.value("upstream_id"),
            action: row.value("action", Action.init(rawValue:)),
            path: row.value("path") { DiskPath($0) ?? DiskPath($0, scheme: .trash) },
            target: (row.value("target") as String?).flatMap { DiskPath($0) },
            status: row.value("status", Status.init(rawValue:))
        )
    }
}
