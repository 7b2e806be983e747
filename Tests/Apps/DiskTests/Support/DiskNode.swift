import AppInterface
import Crypto
import Database
import Foundation
import Freshness
import ResponseStore
import Screens
import SharedStore
import TestKit
import Upstream

@testable import Disk

/// A server with its users' data in its own database, or in a store that it shares.
struct DiskNode: Sendable {
    let cache: DiskStore
    let logins: any LoginBook
    let marks: any MarkBook
    let jobs: any JobBook
    let outbox: any OutboxBook
    let sessions: SessionStore
    let access: SharedStoreAccess?

    private static let migrations = SharedLogins.migrations + SharedMarks.migrations + SharedOutbox.migrations

    /// Creates a server of its own.
    static func alone(_ kind: StoreKind) async throws -> DiskNode {
        switch kind {
        case .sqlite: return try DiskNode()
        case .postgresql: return try DiskNode(try await .temporary(migrations))
        }
    }

    /// Creates two servers that share a store.
    static func two() async throws -> (DiskNode, DiskNode) {
        let access = try await SharedStoreAccess.temporary(migrations)
        return (try DiskNode(access), try DiskNode(access.otherServer()))
    }

    private init() throws {
        let database = try LarderDatabase.temporary(migrations: SessionStore.migrations + DiskStore.migrations)
        cache = try Self.cache(database)
        (logins, marks, jobs, outbox, access) = (cache, cache, cache, cache, nil)
        sessions = SessionStore(database)
    }

    init(_ access: SharedStoreAccess) throws {
        let database = try LarderDatabase.temporary(migrations: SessionStore.migrations + DiskStore.migrations)
        cache = try Self.cache(database)
        sessions = SessionStore(access.database, access.changes, cookies: SessionCookies(instance: "local"))
        let seal = SharedSeal(key: SymmetricKey(data: Data(repeating: 7, count: 32)))
        let disk = SharedDisk(database: access.database, changes: access.changes, seal: seal, clock: .system)
        logins = SharedLogins(shared: disk, cache: cache)
        let marks = SharedMarks(database: access.database, changes: access.changes, cache: cache)
        marks.listen { _ in }
        self.marks = marks
        outbox = SharedOutbox(shared: disk, cache: cache, marks: marks)
        jobs = SharedJobs(database: access.database, changes: access.changes)
        self.access = access
    }

    private static func cache(_ database: LarderDatabase) throws -> DiskStore {
        let secrets = try SealedSecrets(database)
        let hasher = try secrets.credentialHasher()
        return DiskStore(database, secrets: secrets, clock: .system) { hasher.hash($0) }
    }

    static let noon = Date(timeIntervalSince1970: 1_000_000)

    /// Logs in.
    func logIn(_ account: String = "1130") async throws {
        let session = Session(app: "disk", kind: .user, account: account, name: "anna", createdAt: Self.noon)
        let space = DiskSpace(total: 100, used: 10, trash: 1)
        let token = DiskToken(accessToken: "t")
        _ = try await logins.link(session, space, token, for: .bearer, sessions: sessions)
        try await follow(account)
    }

    /// Brings the copies of an account up to date, as a request does.
    func follow(_ account: String = "1130") async throws {
        try await logins.catchUp(account)
        try await marks.follow(marksOf: account)
        try await outbox.catchUp(outboxOf: account)
    }

    /// Marks a file or folder.
    @discardableResult
    func mark(_ path: String, _ kind: DiskItem.Kind = .file, maximum: Int = 10) async throws -> Bool? {
        let item = DiskItem(path: .at(path), kind: kind)
        return try await marks.mark(item, account: "1130", at: Self.noon, maximum: maximum)?.isNew
    }

    /// Returns the paths of the marks that this server has.
    func marked(_ account: String = "1130") throws -> [String] {
        let page = try cache.offlinePage(PageRequest(limit: 100), account: account)
        return page.rows.map(\.mark.path.text).sorted()
    }

    /// Lets all leases run out.
    func endLeases() async throws {
        try await access?.database.write(turns: ["test"]) { transaction in
            try transaction.execute("UPDATE disk_download SET until = 0")
            try transaction.execute("UPDATE disk_lease SET until = 0")
        }
    }
}
