import Cluster
import Concurrency
import GRDB
import Storage
import Upstream

// Of several servers, each has its own caches, comparisons and offline contents: of the accounts that are used there.
// They follow the replicated rows of users.
extension DiskStore {
    static let replicated = JournalTables(
        replicated: [
            "disk_installation", "disk_account", "disk_login", "disk_authorization", "disk_offline", "disk_download",
            "disk_operation", outboxJournal.table, UserSecrets.table,
        ],
        derivations: ["disk_offline": { try follow($1, $0) }],
        contents: [outboxJournal.table: "blob_id"]
    )

    /// The rows of an account, its tokens among them.
    static func scope(_ account: String) -> String { "disk/\(account)" }

    /// The login and the epoch of an account, and those of its cached data.
    private struct State {
        /// When the account was linked; nil if it was logged out.
        var linkedAt: Int64?
        var epoch: Int64?
        /// The same of the cached data; nil if there is none.
        var cachedLink: Int64?
        var cachedEpoch: Int64?

        /// Whether it is of another login than the present one.
        var isOfEarlierLogin: Bool { cachedLink != nil && cachedLink != linkedAt }

        var isCurrent: Bool { cachedLink == linkedAt && (linkedAt == nil || cachedEpoch == epoch) }

        init(of account: String, _ db: Database) throws {
            let statement = try db.cachedStatement(sql: Self.select)
            guard let row = try Row.fetchOne(statement, arguments: [account, account]) else { return }
            (linkedAt, epoch) = (try row.value(0), try row.value(1))
            (cachedLink, cachedEpoch) = (try row.value(2), try row.value(3))
        }

        private static let select = """
            SELECT disk_account.linked_at, disk_account.epoch, disk_cache.linked_at, disk_cache.epoch FROM (SELECT 1)
            LEFT JOIN disk_account ON disk_account.account = ? LEFT JOIN disk_cache ON disk_cache.account = ?
            """
    }

    /// Whether an account is logged in.
    static func isLinked(_ account: String, _ db: Database) throws -> Bool {
        try Int64.fetchOne(try db.cachedStatement(sql: selectLatestEpoch), arguments: [account]) != nil
    }

    /// Whether an account is logged in, and its cached data belongs to that login.
    func isFollowed(_ account: String, _ db: Database) throws -> Bool {
        let state = try State(of: account, db)
        return state.linkedAt != nil && state.cachedLink == state.linkedAt
    }

    /// Brings the replicated rows of an account and its cached data up to date with other servers, before they are
    /// used.
    ///
    /// - Returns: How old the rows may be, if PostgreSQL does not respond; nil if they are current.
    @discardableResult
    func catchUp(_ account: String) async throws -> UserDatabase.Lag? {
        let lag = try await users.catchUp()
        try await follow(account)
        try followOutbox(of: account)
        return lag
    }

    /// Runs a change of files that this server makes: no other change is applied to the account's cached data
    /// meanwhile.
    func alone<Value>(with account: String, _ body: () async throws -> Value) async throws -> Value {
        guard users.isShared else { return try await body() }
        return try await locks.holding([account], body)
    }

    /// Brings the cached data of an account up to date with the account. Data of a login that has ended is removed,
    /// also if the account is logged in again. After a change by another server it must be revalidated.
    ///
    /// - Parameter space: That of the API, if the account was logged in here.
    func follow(_ account: String, entering space: DiskSpace? = nil) async throws {
        guard users.isShared else { return }
        if space == nil, try database.read({ try State(of: account, $0).isCurrent }) { return }
        try await bringUpToDate(account, space)
    }

    private func bringUpToDate(_ account: String, _ space: DiskSpace? = nil) async throws {
        try await locks.holding([account]) {
            if try database.read({ try State(of: account, $0).isOfEarlierLogin }) {
                try await database.writeErasing { [self] db in
                    guard try State(of: account, db).isOfEarlierLogin else { return }
                    try wipe(account, db)
                    forgotten.send(account, after: db)
                }
            }
            try await database.writeFreeingRoom { [self] db in
                let state = try State(of: account, db)
                guard state.linkedAt != nil, !state.isOfEarlierLogin, space != nil || !state.isCurrent else { return }
                if state.cachedLink != nil, state.cachedEpoch != state.epoch {
                    try responses.invalidate(credential: credential(of: account), in: db)
                    db.afterNextTransaction { [changeLogs] _ in
                        changeLogs.forget(account, owner: Self.owner(account))
                    }
                }
                try db.execute(sql: Self.enterCache, arguments: [account])
                if state.cachedLink == nil { try db.execute(sql: Self.enterChecks, arguments: [account]) }
                if let space { try enter(space, account: account, db) }
                bump(account, after: db)
            }
        }
    }

    private static let enterChecks = """
        INSERT INTO disk_offline_check (account, number, due_at)
        SELECT account, number, 0 FROM disk_offline WHERE account = ? ON CONFLICT DO NOTHING
        """

    /// Brings the cached data of all accounts up to date, at the start of the server. The accounts of a server by
    /// itself may have been copied from several servers, without their cached data.
    func followAll() async throws {
        let select = users.isShared ? Self.selectCached : Self.selectCopied
        for account in try database.read({ try String.fetchAll($0, sql: select) }) {
            if users.isShared { try await follow(account) } else { try await bringUpToDate(account) }
        }
    }

    private static let selectCached = "SELECT account FROM disk_cache"
    private static let selectCopied = """
        SELECT account FROM disk_account WHERE account NOT IN (SELECT account FROM disk_cache)
        """

    /// Applies the changes of other servers when they are known. Does nothing on a server by itself.
    ///
    /// - Parameter failed: Is called if that fails; the cached data of the account is brought up to date before it is
    ///   used, or at the next start.
    func listen(failed: @escaping @Sendable (any Error) -> Void) {
        guard users.isShared else { return }
        offlineSignal.removals.listen { [self] account, numbers, epoch in
            Task { do { try await removeMarks(numbers, of: account, epoch: epoch) } catch { failed(error) } }
        }
        users.onChange(of: Self.outboxJournal.table) { [self] keys in
            outbox.note(keys)
            // In the background: a reader that needs the change earlier applies it itself.
            Task { do { try followOutboxes() } catch { failed(error) } }
        }
        for table in ["disk_account", "disk_login", "disk_offline"] {
            users.onChange(of: table) { [self] keys in
                for account in Set(keys.compactMap { $0.first.flatMap(String.fromDatabaseValue) }) {
                    bump(account)
                    if table == "disk_offline" { offlineSignal.changed(account) }
                    guard table == "disk_account" else { continue }
                    Task { do { try await followIfUsed(account) } catch { failed(error) } }
                }
            }
        }
    }

    /// Brings the cached data of an account up to date, if there is any.
    private func followIfUsed(_ account: String) async throws {
        guard try database.read({ try Self.epoch(of: account, $0) }) != nil else { return }
        try await follow(account)
    }
}
