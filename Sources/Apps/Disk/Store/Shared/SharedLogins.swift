import AppInterface
import Concurrency
import Database
import Foundation
import Freshness
import Screens
import SharedStore

/// The logins of the Disk app in a store that several servers share.
///
/// The store has what users made. Each server has copies of the accounts that were used there, to which what it caches
/// belongs (``DiskStore``): they are brought up to date before an account is used, and removed with all that is cached
/// once it is logged out on any server. Tokens are in the store only.
struct SharedLogins: LoginBook {
    let shared: SharedDisk
    /// What this server has by itself.
    let cache: DiskStore

    var database: SharedDatabase { shared.database }
    var seal: SharedSeal { shared.seal }

    /// What servers tell each other after a logout.
    private static let loggedOut = "disk/logout"

    private static func topic(_ account: String) -> String {
        ServerEvent.Audience.account(app: DiskStore.app, account: account).topic
    }

    /// Changes an account, one change after the other.
    private func write<Value: Sendable>(
        of account: String,
        _ updates: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        defer { shared.changes.changed(Self.topic(account)) }
        return try await database.write(turns: [Self.turn(account)], updates)
    }

    static func turn(_ account: String) -> String { "disk/\(account)" }

    // MARK: Accounts

    /// Whether an account is still the one that was logged in, which it stays up to the end of the transaction.
    static func isLinked(_ account: DiskAccount, _ transaction: SQLTransaction) throws -> Bool {
        try linkedAt(account.id, transaction) == account.linkedAt.millisecondsSince1970
    }

    /// When an account was logged in first; nil if it is logged out. It stays so up to the end of the transaction.
    static func linkedAt(_ account: String, _ transaction: SQLTransaction) throws -> Int64? {
        let sql = "SELECT linked_at FROM disk_account WHERE account = $1 FOR NO KEY UPDATE"
        return try transaction.rows(sql, [account]).first?.value("linked_at")
    }

    /// Counts a change of an account's files in a transaction; nil if the account was logged out.
    static func nextEpoch(of account: String, _ transaction: SQLTransaction) throws -> Int64? {
        let sql = "UPDATE disk_account SET epoch = epoch + 1 WHERE account = $1 RETURNING epoch"
        return try transaction.rows(sql, [account]).first?.value("epoch")
    }

    func nextEpoch(of account: String) async throws -> Int64? {
        try await write(of: account) { try Self.nextEpoch(of: account, $0) }
    }

    func changeToken(account: String) -> ChangeToken {
        cache.changeToken(account: account).and(shared.changes.token(of: Self.topic(account)))
    }

    func catchUp(_ account: String) async throws {
        // Nearly always.
        if let present = try await present(account), try cache.isUpToDate(present) { return }
        // What was read earlier does not replace what was read later.
        try await shared.comparisons.holding([account]) { try await follow(account) }
    }

    private func follow(_ account: String) async throws {
        guard let present = try await present(account) else { return try await cache.forget(account: account) }
        guard try await cache.follow(present) else { return }
        // It may have been logged out before the copy was made, of which no message comes any more.
        guard try await self.present(account)?.linkedAt == present.linkedAt else {
            return try await cache.forget(account: account)
        }
    }

    private func present(_ account: String) async throws -> DiskStore.SharedAccount? {
        let rows = try await database.rows(Self.selectAccount, [account]) { row in
            (try DiskStore.SharedAccount(row), try DiskStore.SharedLogin(row))
        }
        guard var present = rows.first?.0 else { return nil }
        present.logins = rows.compactMap(\.1)
        return present
    }

    /// Removes what this server has of accounts that were logged out while it was not told: at its start, and when
    /// messages of others may have been lost.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func forgetLoggedOut() async throws -> Int {
        let copies = try cache.copies()
        let linked = try await database.rows(Self.selectLinked, [Array(copies.keys)]) { row in
            (try row.value("account") as String, try row.value("linked_at") as Int64)
        }
        let present = Dictionary(uniqueKeysWithValues: linked)
        let gone = copies.filter { present[$0.key] != $0.value }
        // It may be logged in again by now.
        for account in gone.keys { try await catchUp(account) }
        return gone.count
    }

    /// Removes what this server has of an account as soon as another one has logged it out.
    ///
    /// - Parameter failed: Is called if that fails; it is done before the account is used, or at the next start.
    func listen(failed: @escaping @Sendable (any Error) -> Void) {
        let forget = { @Sendable in
            _ = Task {
                do { try await forgetLoggedOut() } catch { failed(error) }
            }
        }
        shared.changes.onMessage(Self.loggedOut) { _ in forget() }
        shared.changes.onGap(forget)
    }

    func link(
        _ session: Session,
        _ space: DiskSpace,
        _ token: DiskToken,
        for carrier: SessionCarrier,
        sessions: SessionStore
    ) async throws -> (account: DiskAccount?, token: String) {
        let (id, time) = (session.account, session.createdAt.millisecondsSince1970)
        let secret = try JSONEncoder().encode(token)
        let epoch = DiskStore.firstEpoch()
        let (opened, login) = try await write(of: id) { [seal] transaction in
            let (opened, login) = try sessions.open(session, for: carrier, in: transaction)
            try transaction.execute(
                Self.upsertAccount,
                [id, session.name, time, space.total, space.used, space.trash, epoch]
            )
            let name = "disk/token/\(id)/\(login)"
            try seal.store(secret, name: name, transaction)
            try transaction.execute(
                "INSERT INTO disk_login (session, account, token, rejected, created_at) VALUES ($1, $2, $3, $4, $5)",
                [login, id, name, false, time]
            )
            try SharedOutbox.retry(of: id, transaction)
            return (opened, login)
        }
        SharedOutbox.tell(shared.changes, of: id)
        try await catchUp(id)
        return (try cache.account(id, session: login), opened)
    }

    func logOut(_ account: String, sessions: SessionStore) async throws -> [DiskToken] {
        let (tokens, ended) = try await write(of: account) { [seal] transaction in
            let tokens = try Self.remove(account, seal, transaction)
            return (tokens, try sessions.close(app: DiskStore.app, account: account, in: transaction))
        }
        sessions.ended(ended)
        shared.changes.tell(Self.loggedOut, Self.topic(account), account)
        // It may be logged in again by now. If the store does not say so, it is copied again when it is used.
        do { try await catchUp(account) } catch { try await cache.forget(account: account) }
        return tokens
    }

    /// Removes the login of an expired session; with the last one, all data of the account. What servers have cached
    /// of it is removed at their next look (``forgetLoggedOut()``).
    func remove(_ expired: SessionStore.Expired, _ transaction: SQLTransaction) throws {
        guard !expired.isLast else {
            _ = try Self.remove(expired.account, seal, transaction)
            return
        }
        let names = try transaction.rows("DELETE FROM disk_login WHERE session = $1 RETURNING token", [expired.id])
            .map { try $0.value("token") as String }
        // Sessions of an earlier version share one.
        let used = try transaction.rows("SELECT token FROM disk_login WHERE token = ANY($1)", [names])
        if used.count == 0 { try seal.remove(names, transaction) }
    }

    /// Removes an account with all rows that belong to it: those of other tables refer to it (`ON DELETE CASCADE`).
    ///
    /// - Returns: The tokens that its logins had.
    private static func remove(_ account: String, _ seal: SharedSeal, _ transaction: SQLTransaction) throws
        -> [DiskToken]
    {
        guard try linkedAt(account, transaction) != nil else { return [] }
        let names = try transaction.rows("SELECT token FROM disk_login WHERE account = $1", [account]).map {
            try $0.value("token") as String
        }
        let tokens = try names.compactMap { try token(named: $0, seal, transaction) }
        try seal.remove(names, transaction)
        try transaction.execute("DELETE FROM disk_account WHERE account = $1", [account])
        return tokens
    }

    // MARK: Onboarding

    func isOnboardingSeen() async throws -> Bool {
        try await database.rows("SELECT onboarding_seen FROM disk_installation") {
            try $0.value("onboarding_seen") as Bool
        }.first ?? false
    }

    func setOnboardingSeen(_ isSeen: Bool) async throws {
        try await database.write(turns: ["disk/onboarding"]) { transaction in
            try transaction.execute("UPDATE disk_installation SET onboarding_seen = $1", [isSeen])
        }
    }

    private static let selectAccount = """
        SELECT disk_account.*, session, token, rejected, created_at FROM disk_account
        LEFT JOIN disk_login ON disk_login.account = disk_account.account
        WHERE disk_account.account = $1 ORDER BY session
        """
    private static let selectLinked = "SELECT account, linked_at FROM disk_account WHERE account = ANY($1)"
    private static let upsertAccount = """
        INSERT INTO disk_account (account, name, linked_at, total, used, trash, epoch)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (account) DO UPDATE SET
            name = excluded.name, total = excluded.total, used = excluded.used, trash = excluded.trash
        """
}

extension DiskStore.SharedAccount {
    /// Reads an account without its logins.
    fileprivate init(_ row: SQLRow) throws {
        id = try row.value("account")
        name = try row.value("name")
        linkedAt = try row.value("linked_at")
        space = DiskSpace(total: try row.value("total"), used: try row.value("used"), trash: try row.value("trash"))
        epoch = try row.value("epoch")
        logins = []
    }
}

extension DiskStore.SharedLogin {
    /// Reads a login; nil if the account has none.
    fileprivate init?(_ row: SQLRow) throws {
        guard let session: String = try row.value("session") else { return nil }
        login = DiskLogin(session: session, token: try row.value("token"), isRejected: try row.value("rejected"))
        createdAt = try row.value("created_at")
    }
}
