import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage
import Upstream

extension DiskStore {
    /// Returns the account of a session; nil if it was logged out.
    func account(_ id: String, session: String) throws -> DiskAccount? {
        try database.read { try Self.account(id, session: session, $0) }
    }

    /// Returns an account with its latest login that the API has not refused, or else with any; nil if it was logged
    /// out.
    func account(_ id: String) throws -> DiskAccount? {
        try database.read { db in
            try DiskAccount.fetchOne(db.cachedStatement(sql: Self.selectLatestLogin), arguments: [id])
        }
    }

    /// Returns the present state of an account, with the same login; nil if it was logged out.
    func renewed(_ account: DiskAccount) throws -> DiskAccount? {
        try self.account(account.id, session: account.login.session)
    }

    static func account(_ id: String, session: String, _ db: Database) throws -> DiskAccount? {
        try DiskAccount.fetchOne(db.cachedStatement(sql: selectAccount), arguments: [id, session])
    }

    /// Returns the epoch of an account that its cached data follows; nil if it was logged out.
    static func epoch(of account: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(try db.cachedStatement(sql: selectEpoch), arguments: [account])
    }

    func revision(of account: String) throws -> Int? { try database.read { try Self.revision(of: account, $0) } }

    /// Returns the revision of an account; nil if it was logged out.
    static func revision(of account: String, _ db: Database) throws -> Int? {
        try Int.fetchOne(try db.cachedStatement(sql: selectRevision), arguments: [account])
    }

    static let selectAccount = """
        SELECT disk_cache.*, name, session, token, rejected FROM disk_account
        JOIN disk_cache USING (account) JOIN disk_login USING (account)
        WHERE disk_account.account = ? AND session = ?
        """
    static let selectLatestLogin = """
        SELECT disk_cache.*, name, session, token, rejected FROM disk_account
        JOIN disk_cache USING (account) JOIN disk_login USING (account)
        WHERE disk_account.account = ? ORDER BY rejected, created_at DESC LIMIT 1
        """
    static let selectEpoch = "SELECT epoch FROM disk_cache WHERE account = ?"
    static let selectRevision = "SELECT revision FROM disk_cache WHERE account = ?"

    /// Stores an account, and a session with a token of its own. Other sessions of the account keep theirs.
    ///
    /// - Returns: The account, and the token of the session.
    func link(
        _ session: Session,
        _ space: DiskSpace,
        _ token: DiskToken,
        for carrier: SessionCarrier = .bearer,
        sessions: SessionStore
    ) async throws -> (account: DiskAccount?, token: String) {
        let (opened, id) = SessionStore.newToken(for: carrier)
        let account = session.account
        try await users.write(scope: Self.scope(account)) { [self] db in
            try link(session, id: id, space, token, db)
            try sessions.open(session, token: opened, for: carrier, in: db)
        }
        try await follow(account, entering: space)
        return (try self.account(account, session: id), opened)
    }

    /// Stores the account of a session, and the token of the session, in the transaction that opens it.
    func link(_ session: Session, id: String, _ space: DiskSpace, _ token: DiskToken, _ db: Database) throws {
        let (account, time) = (session.account, session.createdAt.millisecondsSince1970)
        try db.execute(sql: Self.upsertAccount, arguments: [account, session.name, time, Self.firstEpoch()])
        let name = "disk/token/\(account)/\(id)"
        try secrets.store(try JSONEncoder().encode(token), name: name, in: db)
        try db.execute(sql: Self.insertLogin, arguments: [account, id, name, time])
        try retryOutbox(account: account, at: session.createdAt, db)
        if !users.isShared { try enter(space, account: account, db) }
    }

    /// Enters the space of an account that was logged in, and retries the offline work that waited for a login.
    func enter(_ space: DiskSpace, account: String, _ db: Database) throws {
        try db.execute(sql: Self.enterCache, arguments: [account])
        let values: StatementArguments = [space.total, space.used, space.trash]
        try db.execute(sql: Self.updateSpace, arguments: values + [account] + values)
        try retryOffline(account: account, db)
        bump(account, after: db)
    }

    /// The epoch of an account that is logged in; no other account with its identity has had it.
    static func firstEpoch() -> Int64 { Int64(Randomness.number(for: "epoch") >> 2) + 1 }

    private static let upsertAccount = """
        INSERT INTO disk_account (account, name, linked_at, epoch, marks) VALUES (?, ?, ?, ?, 0)
        ON CONFLICT (account) DO UPDATE SET name = excluded.name
        """
    /// Adds the row of an account's cached data, or lets it follow the account.
    static let enterCache = """
        INSERT INTO disk_cache (account, linked_at, epoch, total, used, trash, revision, changed_at)
        SELECT account, linked_at, epoch, 0, 0, 0, 0, 0 FROM disk_account WHERE account = ?
        ON CONFLICT (account) DO UPDATE SET epoch = excluded.epoch
        """
    private static let updateSpace = """
        UPDATE disk_cache SET total = ?, used = ?, trash = ?
        WHERE account = ? AND (total, used, trash) IS NOT (?, ?, ?)
        """
    private static let insertLogin =
        "INSERT INTO disk_login (account, session, token, rejected, created_at) VALUES (?, ?, ?, 0, ?)"

    /// Returns the update of an account's space, for the transaction that stores the response.
    func persistRows(of space: DiskSpace, account: DiskAccount) -> Resource.PersistRows {
        let update = { @Sendable [self] (db: Database) in
            guard try Self.epoch(of: account.id, db) != nil else { throw UpstreamError.notStored }  // logged out
            let values: StatementArguments = [space.total, space.used, space.trash]
            try db.execute(sql: Self.updateSpace, arguments: values + [account.id] + values)
            if db.changesCount > 0 { try notify(["disk.profile"], account: account.id, after: db) }
            if !users.isShared { try Self.setRejected(false, of: account, db) }
            bump(account.id, after: db)
        }
        guard users.isShared, account.login.isRejected else { return Resource.PersistRows(update) }
        return .before({ try await setRejected(false, of: account) }, then: update)
    }

    /// Removes all data of an account: tokens, rows, lists, stored responses and bodies, jobs, sessions.
    ///
    /// - Returns: The tokens that its logins had.
    @discardableResult
    func logOut(_ account: String, sessions: SessionStore) async throws -> [DiskToken] {
        try await removeLongOutbox(of: account)
        let (scope, locks) = (Self.scope(account), [SessionStore.lock])
        let tokens = try await users.write(scope: scope, locks: locks, deleting: .permanent) { [self] db in
            try sessions.close(app: Self.app, account: account, in: db)
            return try remove(account, db)
        }
        try await follow(account)
        try followOutbox(of: account)
        return tokens
    }

    /// Removes an account with all rows that belong to it; on a server by itself, also its cached data.
    ///
    /// - Returns: The tokens that its logins had.
    private func remove(_ account: String, _ db: Database) throws -> [DiskToken] {
        let names = try Self.tokenNames(of: account, db)
        let tokens = try names.compactMap { try token(named: $0, db) }
        for name in names { try secrets.remove(name: name, in: db) }
        for table in ["disk_account", "disk_login", "disk_offline", "disk_download", "disk_operation"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE account = ?", arguments: [account])
        }
        try outbox.removeAll(of: account, in: db)
        if !users.isShared { try wipe(account, db) }
        return tokens
    }

    /// Removes the data of an account that each server has by itself: its caches and offline contents.
    func wipe(_ account: String, _ db: Database) throws {
        for table in ["disk_cache", "disk_offline_check", "disk_offline_entry"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE account = ?", arguments: [account])
        }
        try Self.deleteRows(of: account, db)
        try pages.remove(account: Self.owner(account), in: db)
        try responses.remove(credential: credential(of: account), in: db)
        db.afterNextTransaction { [changeLogs] _ in changeLogs.forget(account, owner: Self.owner(account)) }
        bump(account, after: db)
    }

    /// Removes the login of an expired session; with the last one, all data of the account.
    ///
    /// - Returns: Whether it was the last one.
    @discardableResult
    func remove(_ expired: SessionStore.Expired, _ db: Database) throws -> Bool {
        let token = try String.fetchOne(
            db,
            sql: "DELETE FROM disk_login WHERE account = ? AND session = ? RETURNING token",
            arguments: [expired.account, expired.id]
        )
        let left = try Self.tokenNames(of: expired.account, db)
        // Sessions of an earlier version share one.
        if let token, !left.contains(token) { try secrets.remove(name: token, in: db) }
        guard left.isEmpty else { return false }
        _ = try remove(expired.account, db)
        return true
    }

    /// Does the same on all servers, before the session is ended.
    func remove(_ expired: SessionStore.Expired) async throws {
        _ = try await users.write(scope: Self.scope(expired.account), deleting: .permanent) { [self] db in
            try remove(expired, db)
        }
        try await follow(expired.account)
    }
}

extension DiskAccount: FetchableRecord {
    /// Reads a row of tables `disk_account` and `disk_cache` with one of table `disk_login`.
    init(row: Row) throws {
        let changedAt: Int64 = try row.value("changed_at")
        try self.init(
            id: row.value("account"),
            name: row.value("name"),
            linkedAt: row.date("linked_at"),
            space: DiskSpace(total: row.value("total"), used: row.value("used"), trash: row.value("trash")),
            epoch: row.value("epoch"),
            revision: row.value("revision"),
            contentChangedAt: changedAt == 0 ? nil : row.date("changed_at"),
            login: DiskLogin(
                session: row.value("session"),
                token: row.value("token"),
                isRejected: row.value("rejected")
            )
        )
    }
}
