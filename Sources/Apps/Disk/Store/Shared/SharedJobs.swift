import Database
import Foundation
import Journal
import Screens
import SharedStore

/// Downloads and operations of the Disk app in a store that several servers share.
///
/// What a download stores is a content in the cache of the server that made it. The server has a lease of the download
/// by the clock of PostgreSQL; when that has run out, another one takes the download up, from the beginning.
struct SharedJobs: JobBook {
    let database: SharedDatabase
    let changes: SharedChanges
    let store: DiskStore
    /// This server, from its start to its end: one that starts again is another one.
    let holder = SessionToken.make()

    /// How long a download belongs to a server that says nothing.
    private static let lease = 15_000
    /// Most downloads that are taken up at a time, so that other servers take up some, too.
    private static let mostTaken = 16
    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"

    var endsWithContent: Bool { false }

    var leaseRenewal: Duration? { .seconds(5) }

    init(database: SharedDatabase, changes: SharedChanges, store: DiskStore) {
        (self.database, self.changes, self.store) = (database, changes, store)
    }

    /// Changes an account's jobs, one change after the other.
    private func write<Value: Sendable>(
        of account: String,
        _ updates: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        defer { changes.changed(ServerEvent.Audience.account(app: DiskStore.app, account: account).topic) }
        return try await database.write(turns: ["disk/jobs/\(account)"], updates)
    }

    /// Does the same while the account is logged in; returns nil if it is not.
    private func writeIfLinked<Value: Sendable>(
        of account: String,
        _ updates: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value? {
        defer { changes.changed(ServerEvent.Audience.account(app: DiskStore.app, account: account).topic) }
        let scope = DiskStore.scope(account)
        let made = try await store.users.write(scope: scope, locks: ["disk/jobs/\(account)"]) { db in
            (isLinked: try DiskStore.isLinked(account, db), value: Value?.none)
        } alongside: { linked, alongside in
            guard linked.isLinked, case .store(let transaction) = alongside else { return linked }
            return (true, try updates(transaction))
        }
        return made.value
    }

    // MARK: Downloads

    func download(_ id: String, account: String) async throws -> DownloadJob? {
        let sql = "SELECT * FROM disk_download WHERE id = $1 AND account = $2"
        return try await database.rows(sql, [id, account]) { try DownloadJob($0) }.first ?? nil
    }

    func share(_ job: DownloadJob, at now: Date) async throws -> (job: DownloadJob, isNew: Bool)? {
        let limit = now.addingTimeInterval(-7 * 86_400).millisecondsSince1970
        return try await writeIfLinked(of: job.account) { [holder] transaction -> (job: DownloadJob, isNew: Bool) in
            let file: [any SQLParameter] = [job.account, job.path.text, job.version, job.status.rawValue]
            let known = try transaction.rows(Self.selectShared, file).map { try DownloadJob($0) }
            if let shared = known.first ?? nil { return (shared, false) }
            try transaction.execute(Self.deleteOld, [job.account, limit])
            try transaction.execute(
                Self.insertDownload,
                [
                    job.id, job.account, job.path.text, job.version, job.status.rawValue, job.bytesDone, job.bytesTotal,
                    job.failure?.rawValue, now.millisecondsSince1970, holder, Self.lease,
                ]
            )
            return (job, true)
        }
    }

    func note(_ job: DownloadJob) async throws -> Bool {
        try await write(of: job.account) { [holder] transaction in
            let parameters: [any SQLParameter] = [
                job.id, holder, job.status.rawValue, job.bytesDone, job.failure?.rawValue,
            ]
            return try transaction.execute(Self.updateDownload, parameters) > 0
        }
    }

    func takeUpDownloads() async throws -> [DownloadJob] {
        try await database.write(turns: ["disk/downloads"]) { [holder] transaction in
            let parameters: [any SQLParameter] = [holder, Self.lease, Self.mostTaken]
            return try transaction.rows(Self.takeDownloads, parameters).map { try DownloadJob($0) }
        }.compactMap(\.self)
    }

    func renew(_ jobs: [DownloadJob]) async throws -> Set<String> {
        guard !jobs.isEmpty else { return [] }
        return try await database.write(turns: ["disk/downloads"]) { [holder] transaction in
            let parameters: [any SQLParameter] = [holder, Self.lease, jobs.map(\.id), jobs.map(\.bytesDone)]
            return Set(try transaction.rows(Self.renewDownloads, parameters).map { try $0.value("id") })
        }
    }

    func leaveDownloads() async throws {
        try await database.write(turns: ["disk/downloads"]) { [holder] transaction in
            try transaction.execute("UPDATE disk_download SET until = 0 WHERE holder = $1", [holder])
        }
    }

    private static let selectShared = """
        SELECT * FROM disk_download WHERE account = $1 AND path = $2 AND version = $3
        AND (status IN ('queued', 'running') OR (status = 'done' AND $4 = 'done'))
        ORDER BY status = 'done', created_at DESC LIMIT 1
        """
    private static let deleteOld = """
        DELETE FROM disk_download WHERE account = $1 AND status IN ('done', 'failed') AND created_at < $2
        """
    private static let insertDownload = """
        INSERT INTO disk_download
            (id, account, path, version, status, bytes_done, bytes_total, failure, created_at, holder, until)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, \(now) + $11)
        """
    private static let updateDownload = """
        UPDATE disk_download SET status = $3, bytes_done = $4, failure = $5
        WHERE id = $1 AND holder = $2 AND status IN ('queued', 'running')
        """
    private static let takeDownloads = """
        UPDATE disk_download SET holder = $1, until = \(now) + $2, status = 'queued', bytes_done = 0
        WHERE id IN (
            SELECT id FROM disk_download WHERE status IN ('queued', 'running') AND until < \(now)
            ORDER BY created_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
        ) RETURNING *
        """
    private static let renewDownloads = """
        UPDATE disk_download SET until = \(now) + $2, bytes_done = renewed.bytes
        FROM unnest($3, $4) AS renewed (id, bytes)
        WHERE disk_download.id = renewed.id AND holder = $1 AND status IN ('queued', 'running')
        RETURNING disk_download.id AS id
        """

    // MARK: Operations

    func operation(_ id: String, account: String) async throws -> DiskOperation? {
        let sql = "SELECT * FROM disk_operation WHERE id = $1 AND account = $2"
        return try await database.rows(sql, [id, account]) { try DiskOperation($0) }.first ?? nil
    }

    func keep(_ operation: DiskOperation, at now: Date) async throws {
        _ = try await writeIfLinked(of: operation.account) { transaction in
            try transaction.execute(
                Self.insertOperation,
                [
                    operation.id, operation.account, operation.upstreamID, operation.action.rawValue,
                    operation.path.text, operation.target?.text, operation.status.rawValue, now.millisecondsSince1970,
                ]
            )
            try transaction.execute(Self.deleteOldOperations, [operation.account])
        }
    }

    func finish(_ operation: DiskOperation, as status: DiskOperation.Status) async throws -> Bool {
        try await write(of: operation.account) { transaction in
            let sql = "UPDATE disk_operation SET status = $3 WHERE id = $1 AND account = $2 AND status = 'running'"
            return try transaction.execute(sql, [operation.id, operation.account, status.rawValue]) > 0
        }
    }

    private static let insertOperation = """
        INSERT INTO disk_operation (id, account, upstream_id, action, path, target, status, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """
    private static let deleteOldOperations = """
        DELETE FROM disk_operation WHERE id IN (
            SELECT id FROM disk_operation WHERE account = $1 ORDER BY created_at DESC, id OFFSET 1000
        )
        """
}

extension SharedJobs {
    /// The tables that servers share.
    static let migrations = [
        SharedMigration(
            "disk/002 jobs",
            sql: """
                CREATE TABLE disk_download (
                    id text COLLATE "C" PRIMARY KEY,
                    account text COLLATE "C" NOT NULL,
                    path text COLLATE "C" NOT NULL,
                    version text COLLATE "C" NOT NULL,
                    status text COLLATE "C" NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed')),
                    bytes_done int8 NOT NULL,
                    bytes_total int8 NOT NULL,
                    failure text,
                    created_at int8 NOT NULL,            -- milliseconds since 1970 UTC, as all times
                    holder text COLLATE "C" NOT NULL,    -- the server that fetches it
                    until int8 NOT NULL                  -- when another one may, by the database's clock
                );
                CREATE INDEX disk_download_by_file ON disk_download (account, path, version);
                CREATE INDEX disk_download_by_lease ON disk_download (until) WHERE status IN ('queued', 'running');

                CREATE TABLE disk_operation (
                    id text COLLATE "C" PRIMARY KEY,
                    account text COLLATE "C" NOT NULL,
                    upstream_id text COLLATE "C" NOT NULL,
                    action text NOT NULL,
                    path text COLLATE "C" NOT NULL,
                    target text COLLATE "C",
                    status text NOT NULL CHECK (status IN ('running', 'done', 'failed')),
                    created_at int8 NOT NULL
                );
                CREATE INDEX disk_operation_by_account ON disk_operation (account, created_at);

                -- What one server does at a time, until a time of the database's clock.
                CREATE TABLE disk_lease (
                    name text COLLATE "C" PRIMARY KEY,
                    holder text COLLATE "C" NOT NULL,
                    until int8 NOT NULL
                );
                """
        )
    ]
}

extension DownloadJob {
    /// Reads a row of table `disk_download`; nil for one that is damaged.
    fileprivate init?(_ row: SQLRow) throws {
        guard let path = DiskPath(try row.value("path") as String),
            let status = Status(rawValue: try row.value("status"))
        else { return nil }
        self.init(
            id: try row.value("id"),
            account: try row.value("account"),
            path: path,
            version: try row.value("version"),
            bytesTotal: try row.value("bytes_total"),
            status: status,
            bytesDone: try row.value("bytes_done"),
            failure: (try row.value("failure") as String?).flatMap(Failure.init)
        )
    }
}

extension DiskOperation {
    /// Reads a row of table `disk_operation`; nil for one that is damaged.
    fileprivate init?(_ row: SQLRow) throws {
        let text: String = try row.value("path")
        guard let path = DiskPath(text) ?? DiskPath(text, scheme: .trash),
            let action = Action(rawValue: try row.value("action")),
            let status = Status(rawValue: try row.value("status"))
        else { return nil }
        self.init(
            id: try row.value("id"),
            account: try row.value("account"),
            upstreamID: try row.value("upstream_id"),
            action: action,
            path: path,
            target: (try row.value("target") as String?).flatMap { DiskPath($0) },
            status: status
        )
    }
}
