import Concurrency
import Database
import Foundation
import GRDB
import ResponseStore
import Screens
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

    /// Returns an account as it is now, with the same login; nil if it was logged out.
    func renewed(_ account: DiskAccount) throws -> DiskAccount? {
        try self.account(account.id, session: account.login.session)
    }

    static func account(_ id: String, session: String, _ db: Database) throws -> DiskAccount? {
        try DiskAccount.fetchOne(db.cachedStatement(sql: selectAccount), arguments: [id, session])
    }

    /// Returns the epoch of an account; nil if it was logged out.
    static func epoch(of account: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(try db.cachedStatement(sql: selectEpoch), arguments: [account])
    }

    /// Returns the revision of an account; nil if it was logged out.
    ///
    /// - Throws: `StorageError`.
    func revision(of account: String) throws -> Int? { try database.read { try Self.revision(of: account, $0) } }

    /// Returns the revision of an account; nil if it was logged out.
    static func revision(of account: String, _ db: Database) throws -> Int? {
        try Int.fetchOne(try db.cachedStatement(sql: selectRevision), arguments: [account])
    }

    static let selectAccount = """
        SELECT disk_account.*, session, token, rejected FROM disk_account
        JOIN disk_login ON disk_login.account = disk_account.account
        WHERE disk_account.account = ? AND session = ?
        """
    static let selectLatestLogin = """
        SELECT disk_account.*, session, token, rejected FROM disk_account
        JOIN disk_login ON disk_login.account = disk_account.account
        WHERE disk_account.account = ? ORDER BY rejected, created_at DESC LIMIT 1
        """
    static let selectEpoch = "SELECT epoch FROM disk_account WHERE account = ?"
    static let selectRevision = "SELECT revision FROM disk_account WHERE account = ?"

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
        try await database.write { [self] db in
            let (opened, id) = try sessions.open(session, for: carrier, in: db)
            try link(session, id: id, space, token, db)
            return (try Self.account(session.account, session: id, db), opened)
        }
    }

    /// Stores the account of a session, and the token of the session, in the transaction that opens it.
    func link(_ session: Session, id: String, _ space: DiskSpace, _ token: DiskToken, _ db: Database) throws {
        let (account, time) = (session.account, session.createdAt.millisecondsSince1970)
        let epoch = Self.firstEpoch()
        try db.execute(
            sql: Self.upsertAccount,
            arguments: [
                account, session.name, time, space.total, space.used, space.trash,
                epoch,
            ]
        )
        let name = "disk/token/\(account)/\(id)"
        try secrets.store(try JSONEncoder().encode(token), name: name, in: db)
        try db.execute(sql: Self.insertLogin, arguments: [id, account, name, time])
        try retryOffline(account: account, db)
        try retryOutbox(account: account, at: session.createdAt, db)
        bump(account, after: db)
    }

    /// The epoch of an account that is logged in; no other account with its identity has had it.
    static func firstEpoch() -> Int64 { Int64(Randomness.number(for: "epoch") >> 2) + 1 }

    private static let upsertAccount = """
        INSERT INTO disk_account (account, name, linked_at, total, used, trash, epoch, revision)
        VALUES (?, ?, ?, ?, ?, ?, ?, 0)
        ON CONFLICT (account) DO UPDATE SET
            name = excluded.name, total = excluded.total, used = excluded.used, trash = excluded.trash
        """
    private static let updateSpace = """
        UPDATE disk_account SET total = ?, used = ?, trash = ?
        WHERE account = ? AND (total, used, trash) IS NOT (?, ?, ?)
        """
    private static let insertLogin =
        "INSERT INTO disk_login (session, account, token, rejected, created_at) VALUES (?, ?, ?, 0, ?)"

    /// Returns the update of an account's space, for the transaction that stores the response.
    func persistRows(of space: DiskSpace, account: DiskAccount) -> Resource.PersistRows {
        Resource.PersistRows { [self] db in
            guard try Self.epoch(of: account.id, db) != nil else { throw UpstreamError.notStored }  // logged out
            let values: StatementArguments = [space.total, space.used, space.trash]
            try db.execute(sql: Self.updateSpace, arguments: values + [account.id] + values)
            if db.changesCount > 0 { try tell(["disk.profile"], account: account.id, after: db) }
            try db.cachedStatement(sql: Self.setRejected).execute(arguments: [false, account.login.token, false])
            bump(account.id, after: db)
        }
    }

    /// Removes all data of an account: tokens, rows, lists, stored responses and bodies, jobs, sessions.
    func wipe(_ account: String, sessions: SessionStore) async throws {
        try await database.writeErasing { [self] db in
            try sessions.close(app: Self.app, account: account, in: db)
            try wipe(account, db)
        }
    }

    func wipe(_ account: String, _ db: Database) throws {
        for name in try Self.tokenNames(of: account, db) { try secrets.remove(name: name, in: db) }
        for table in [
            "disk_account", "disk_login", "disk_download", "disk_operation", "disk_offline", "disk_offline_entry",
        ] {
            try db.execute(sql: "DELETE FROM \(table) WHERE account = ?", arguments: [account])
        }
        try outbox.removeAll(of: account, in: db)
        try Self.deleteRows(of: account, db)
        try pages.remove(account: Self.owner(account), in: db)
        try responses.remove(credential: credential(of: account), in: db)
        db.afterNextTransaction { [changeLogs] _ in changeLogs.forget(account, owner: Self.owner(account)) }
        offlineSignal.follow(nil, of: account, after: db)
        bump(account, after: db)
    }

    /// Removes the login of an expired session; with the last one, all data of the account.
    func remove(_ expired: SessionStore.Expired, _ db: Database) throws {
        guard !expired.isLast else { return try wipe(expired.account, db) }
        let token = try String.fetchOne(
            db,
            sql: "DELETE FROM disk_login WHERE session = ? RETURNING token",
            arguments: [expired.id]
        )
        // Sessions of an earlier version share one.
        guard let token, try !Self.tokenNames(of: expired.account, db).contains(token) else { return }
        try secrets.remove(name: token, in: db)
    }
}

extension DiskAccount: FetchableRecord {
    /// Reads a row of table `disk_account` with one of table `disk_login`.
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
