import Cluster
import Concurrency
import Crypto
import Foundation
import HTTP
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

/// A server by itself, or one of several.
struct DiskNode: Sendable {
    let cache: DiskStore
    let sessions: SessionStore
    let access: ClusterAccess?

    private static let migrations =
        Journal.storeMigrations + ClusterSeal.migrations
    static let key = SymmetricKey(data: Data(repeating: 7, count: 32))

    static func store(on server: RunningPostgres? = nil) async throws -> ClusterAccess {
        try await .temporary(migrations, on: server)
    }

    /// Creates a server of its own, or one of several.
    static func alone(_ kind: StoreKind) async throws -> DiskNode {
        switch kind {
        case .sqlite: try DiskNode(nil)
        case .postgresql: try DiskNode(try await store())
        }
    }

    /// Creates two servers that share a store.
    static func two(on server: RunningPostgres? = nil) async throws -> (DiskNode, DiskNode) {
        let access = try await store(on: server)
        return (try DiskNode(access), try DiskNode(access.otherServer()))
    }

    /// - Parameter directory: nil for a new one.
    init(_ access: ClusterAccess?, in directory: DataDirectory? = nil) throws {
        let database = try LarderDatabase.withCacheTables(
            in: try directory ?? .temporary(),
            migrations: SessionStore.migrations + DiskStore.migrations + Journal.fileMigrations,
            logger: .quiet
        )
        let local = try SealedSecrets(database)
        let hasher = try local.credentialHasher()
        let tables = JournalTables([SessionStore.replicated, DiskStore.replicated])
        let users = access?.users(in: database, tables) ?? UserDatabase(database)
        cache = DiskStore(
            database,
            users: users,
            secrets: access == nil ? UserSecrets(local) : ClusterSeal(key: Self.key).userSecrets,
            clock: .system
        ) { hasher.hash($0) }
        cache.listen { Issue.record($0) }
        self.access = access
        let now = access == nil ? Self.noon : nil
        try database.read { [cache] in try cache.outbox.load(at: now, $0) }
        sessions = SessionStore(users)
    }

    static let noon = Date(timeIntervalSince1970: 1_000_000)

    @discardableResult
    func logIn(
        _ account: String = "1130",
        _ token: DiskToken = DiskToken(accessToken: "t"),
        at now: Date = noon
    ) async throws -> DiskAccount? {
        let session = Session(app: "disk", kind: .user, account: account, name: "anna", createdAt: now)
        let space = DiskSpace(total: 100, used: 10, trash: 1)
        let linked = try await cache.link(session, space, token, for: .bearer, sessions: sessions).account
        try await follow(account)
        return linked
    }

    @discardableResult
    func logOut(_ account: String = "1130") async throws -> [DiskToken] {
        try await cache.logOut(account, sessions: sessions)
    }

    /// Brings the cached data of an account up to date, as a request does.
    func follow(_ account: String = "1130") async throws {
        try await cache.catchUp(account)
    }

    /// Returns the account of a session, as a request does; nil if it was logged out.
    func account(_ id: String = "1130", session: String) async throws -> DiskAccount? {
        try await cache.catchUp(id)
        return try cache.account(id, session: session)
    }

    /// Stores a row, as a response of the API does.
    func keep(_ path: String, account: String = "1130") async throws {
        try await cache.database.write { [cache] db in
            let item = DiskItem(path: .at(path), kind: .file)
            try cache.keep([item], about: nil, account: account, at: Self.noon, in: db)
        }
    }

    func has(_ path: String, account: String = "1130") throws -> Bool {
        try cache.row(.at(path), account: account) != nil
    }

    /// Marks a file or folder.
    @discardableResult
    func mark(_ path: String, _ kind: DiskItem.Kind = .file, maximum: Int = 10) async throws -> Bool? {
        let item = DiskItem(path: .at(path), kind: kind)
        return try await cache.mark(item, account: "1130", at: Self.noon, maximum: maximum)?.isNew
    }

    /// Returns the paths of the marks that this server has.
    func marked(_ account: String = "1130") throws -> [String] {
        let page = try cache.offlinePage(PageRequest(limit: 100), account: account)
        return page.rows.map(\.mark.path.text).sorted()
    }

    /// Lets all leases run out.
    func endLeases() async throws {
        try await access?.database.write(locks: ["test"]) { transaction in
            try transaction.execute("UPDATE journal_lease SET until = 'epoch'")
        }
    }
}
