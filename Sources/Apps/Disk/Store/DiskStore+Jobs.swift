import Database
import Foundation
import GRDB

extension DiskStore {
    /// Returns a download of an account; nil if there is none.
    func download(_ id: String, account: String) throws -> DownloadJob? {
        try database.read { db in
            try Row.fetchOne(
                db,
                sql: "SELECT * FROM disk_download WHERE id = ? AND account = ?",
                arguments: [id, account]
            ).flatMap(DownloadJob.init)
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
            if let shared = try Row.fetchOne(db, sql: Self.selectShared, arguments: arguments).flatMap(DownloadJob.init)
            {
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
            try Row.fetchAll(
                db,
                sql: "SELECT * FROM disk_download WHERE status IN ('queued', 'running') ORDER BY created_at, id"
            ).compactMap(DownloadJob.init)
        }
    }

    /// Returns an operation of an account; nil if there is none.
    func operation(_ id: String, account: String) throws -> DiskOperation? {
        try database.read { db in
            try Row.fetchOne(
                db,
                sql: "SELECT * FROM disk_operation WHERE id = ? AND account = ?",
                arguments: [id, account]
            ).flatMap(DiskOperation.init)
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

extension DownloadJob {
    /// Reads a row of table `disk_download`; nil for one that is damaged.
    init?(row: Row) {
        guard let path = DiskPath(row["path"] as String), let status = Status(rawValue: row["status"]) else {
            return nil
        }
        self.init(
            id: row["id"],
            account: row["account"],
            path: path,
            version: row["version"],
            bytesTotal: row["bytes_total"],
            status: status,
            bytesDone: row["bytes_done"],
            failure: (row["failure"] as String?).flatMap(Failure.init)
        )
    }
}

extension DiskOperation {
    /// Reads a row of table `disk_operation`; nil for one that is damaged.
    init?(row: Row) {
        let text: String = row["path"]
        guard let path = DiskPath(text) ?? DiskPath(text, scheme: .trash), let action = Action(rawValue: row["action"]),
            let status = Status(rawValue: row["status"])
        else { return nil }
        self.init(
            id: row["id"],
            account: row["account"],
            upstreamID: row["upstream_id"],
            action: action,
            path: path,
            target: (row["target"] as String?).flatMap { DiskPath($0) },
            status: status
        )
    }
}
