import Cluster
import Foundation
import GRDB
import Storage

// The work that users have begun and that outlives their requests: downloads, and operations that the API finishes.
extension DiskStore {
    /// How long a download belongs to a server that says nothing.
    static let downloadLease = Duration.seconds(15)
    /// Most downloads that are taken up at a time, so that other servers take up some, too.
    private static let mostTaken = 16

    private static func leaseName(of download: String) -> String { "disk/download/\(download)" }

    /// Whether the transaction that stores a content ends its download, too: contents are each server's own.
    var endsDownloadsWithContents: Bool { !users.isShared }

    func download(_ id: String, account: String) throws -> DownloadJob? {
        let sql = "SELECT * FROM disk_download WHERE id = ? AND account = ?"
        return try users.read { try DownloadJob.fetchOne($0, sql: sql, arguments: [id, account]) }
    }

    /// Returns the download of a version of a file that is in progress, or that is done if `job` is; else stores `job`.
    /// All requests for a version share one download.
    ///
    /// - Returns: The download, and the lease of a new one, which this server begins; nil if the account was logged out
    ///   meanwhile.
    func share(_ job: DownloadJob, at now: Date) async throws -> (job: DownloadJob, lease: Lease?)? {
        // No other server takes it up as soon as it has its row. No one else knows its name.
        let lease = job.isOver ? nil : try await takeLease(of: job)
        do {
            let shared = try await users.write(scope: Self.scope(job.account)) { try Self.share(job, at: now, $0) }
            if let shared, shared.isNew { return (job, lease) }
            try await release(lease)
            return shared.map { ($0.job, nil) }
        } catch {
            // Else it ends by itself.
            try? await release(lease)
            throw error
        }
    }

    private func takeLease(of job: DownloadJob) async throws -> Lease? {
        try await users.leases.take(Self.leaseName(of: job.id), lasting: Self.downloadLease)
    }

    private func release(_ lease: Lease?) async throws {
        if let lease { try await users.leases.release([lease]) }
    }

    private static func share(_ job: DownloadJob, at now: Date, _ db: Database) throws -> (
        job: DownloadJob, isNew: Bool
    )? {
        guard try isLinked(job.account, db) else { return nil }
        let arguments: StatementArguments = [job.account, job.path.text, job.version, job.status.rawValue]
        if let shared = try DownloadJob.fetchOne(db, sql: selectShared, arguments: arguments) { return (shared, false) }
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

    static let selectShared = """
        SELECT * FROM disk_download WHERE account = ? AND path = ? AND version = ?
        AND (status IN ('queued', 'running') OR (status = 'done' AND ? = 'done'))
        ORDER BY status = 'done', created_at DESC LIMIT 1
        """

    /// Stores the state of a download.
    ///
    /// - Returns: False if it does not exist, has already ended, or belongs to another server.
    @discardableResult
    func note(_ job: DownloadJob, holding lease: Lease?) async throws -> Bool {
        do {
            return try await users.write(scope: Self.scope(job.account), holding: lease) { try Self.note(job, $0) }
        } catch is LeaseLost {
            return false
        }
    }

    private static func note(_ job: DownloadJob, _ db: Database) throws -> Bool {
        try db.execute(
            sql: """
                UPDATE disk_download SET status = ?, bytes_done = ?, failure = ?
                WHERE id = ? AND status IN ('queued', 'running')
                """,
            arguments: [job.status.rawValue, job.bytesDone, job.failure?.rawValue, job.id]
        )
        return db.changesCount > 0
    }

    /// Takes the unfinished downloads that belong to no server that runs. They begin again.
    ///
    /// - Parameter known: Those that this server has.
    func takeUpDownloads(except known: Set<String>) async throws -> [(job: DownloadJob, lease: Lease)] {
        guard try await users.catchUp() == nil else { return [] }
        let jobs = try unfinishedDownloads().filter { !known.contains($0.id) }
        let names = Dictionary(jobs.map { (Self.leaseName(of: $0.id), $0) }) { first, _ in first }
        let most = users.isShared ? Self.mostTaken : jobs.count
        let leases = try await users.leases.take(
            jobs.map { Self.leaseName(of: $0.id) },
            atMost: most,
            lasting: Self.downloadLease
        )
        var taken: [(job: DownloadJob, lease: Lease)] = []
        do {
            for lease in leases {
                guard var job = names[lease.name] else { continue }
                _ = job.apply(.interrupted)
                // It may have ended before the lease was taken.
                if try await note(job, holding: lease) { taken.append((job, lease)) } else { try await release(lease) }
            }
        } catch {
            // Otherwise other servers wait until the leases end. A task of its own, since this one may be cancelled.
            await Task { for lease in leases { try? await release(lease) } }.value
            throw error
        }
        return taken
    }

    /// Returns the downloads that are not finished, as this server knows.
    func unfinishedDownloads() throws -> [DownloadJob] {
        let sql = "SELECT * FROM disk_download WHERE status IN ('queued', 'running') ORDER BY created_at, id"
        return try users.read { try DownloadJob.fetchAll($0, sql: sql) }
    }

    func operation(_ id: String, account: String) throws -> DiskOperation? {
        let sql = "SELECT * FROM disk_operation WHERE id = ? AND account = ?"
        return try users.read { try DiskOperation.fetchOne($0, sql: sql, arguments: [id, account]) }
    }

    /// Stores an operation that continues; the latest 1,000 of an account are kept.
    func keep(_ operation: DiskOperation, at now: Date) async throws {
        try await users.write(scope: Self.scope(operation.account)) { db in
            guard try Self.isLinked(operation.account, db) else { return }
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
        try await users.write(scope: Self.scope(operation.account), deleting: .toTrash) { db in
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
