import AppInterface
import Concurrency
import Crypto
import Database
import Foundation
import Freshness
import ResponseStore
import Screens
import SharedStore
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Disk

/// A server with logins in its own database, or in a store that it shares.
private struct Server: Sendable {
    let book: any LoginBook
    let cache: DiskStore
    let sessions: SessionStore

    /// Creates a server of its own.
    static func alone(_ kind: StoreKind) async throws -> Server {
        switch kind {
        case .sqlite:
            let database = try LarderDatabase.temporary(migrations: SessionStore.migrations + DiskStore.migrations)
            let store = try cache(database)
            return Server(book: store, cache: store, sessions: SessionStore(database))
        case .postgresql: return try await Server(.temporary(SharedLogins.migrations + SharedOutbox.migrations))
        }
    }

    /// Creates a server of several.
    init(_ shared: SharedStoreAccess, key: SymmetricKey = Self.key) async throws {
        let database = try LarderDatabase.temporary(migrations: SessionStore.migrations + DiskStore.migrations)
        cache = try Self.cache(database)
        sessions = SessionStore(shared.database, shared.changes, cookies: SessionCookies(instance: "local"))
        let seal = SharedSeal(key: key)
        try await seal.check(shared.database)
        let disk = SharedDisk(database: shared.database, changes: shared.changes, seal: seal, clock: .system)
        book = SharedLogins(shared: disk, cache: cache)
    }

    private init(book: any LoginBook, cache: DiskStore, sessions: SessionStore) {
        (self.book, self.cache, self.sessions) = (book, cache, sessions)
    }

    static let key = SymmetricKey(data: Data(repeating: 7, count: 32))

    private static func cache(_ database: LarderDatabase) throws -> DiskStore {
        let secrets = try SealedSecrets(database)
        let hasher = try secrets.credentialHasher()
        return DiskStore(database, secrets: secrets, clock: .system) { hasher.hash($0) }
    }

    var shared: SharedLogins? { book as? SharedLogins }

    /// Returns the account of a session, as a request does; nil if it was logged out.
    func account(_ id: String, session: String) async throws -> DiskAccount? {
        try await book.catchUp(id)
        return try cache.account(id, session: session)
    }

    /// Logs in.
    func logIn(_ account: String = "1130", _ token: DiskToken = .init(accessToken: "t"), at now: Date) async throws
        -> DiskAccount?
    {
        let session = Session(app: "disk", kind: .user, account: account, name: "anna", createdAt: now)
        let space = DiskSpace(total: 100, used: 10, trash: 1)
        return try await book.link(session, space, token, for: .bearer, sessions: sessions).account
    }

    /// Stores a row, as a response of the API does.
    func keep(_ path: String, account: String) async throws {
        try await cache.database.write { [cache] db in
            let item = DiskItem(path: .at(path), kind: .file)
            try cache.keep([item], about: nil, account: account, at: Date(timeIntervalSince1970: 1), in: db)
        }
    }

    func has(_ path: String, account: String) throws -> Bool { try cache.row(.at(path), account: account) != nil }
}

/// How many tokens OAuth was asked for.
private final class Grants: Sendable { let count = Mutex(0) }

@Suite("Logins in SQLite and in PostgreSQL", .timeLimit(.minutes(3)))
struct LoginBookTests {
    private let epoch = Date(timeIntervalSince1970: 1_000_000)
    private let old = DiskToken(accessToken: "old", refreshToken: "once", expiresAt: nil)
    private let new = DiskToken(accessToken: "new", refreshToken: "next", expiresAt: nil)

    @Test("DISK-37 each login has its own token; a logout ends all of the account", arguments: StoreKind.allCases)
    func logins(kind: StoreKind) async throws {
        let server = try await Server.alone(kind)
        let first = try #require(try await server.logIn("1130", old, at: epoch))
        let second = try #require(try await server.logIn("1130", new, at: epoch.addingTimeInterval(1)))
        let other = try #require(try await server.logIn("7", old, at: epoch))
        #expect(first.linkedAt == epoch && second.linkedAt == epoch && first.space.used == 10 && first.name == "anna")
        #expect(first.epoch == second.epoch && first.epoch > 0)
        #expect(try await server.book.token(named: first.login.token) == old)
        #expect(try await server.book.token(named: second.login.token) == new)
        try await server.book.setRejected(true, of: first)
        let rejected = try await server.account("1130", session: first.login.session)
        #expect(rejected?.login.isRejected == true)
        #expect(try await server.account("1130", session: second.login.session)?.login.isRejected == false)
        #expect(try await server.account("1130", session: other.login.session) == nil)
        try await server.keep("/a.txt", account: "1130")
        try await server.keep("/b.txt", account: "7")
        let removed = try await server.book.logOut("1130", sessions: server.sessions)
        #expect(Set(removed.map(\.accessToken)) == ["old", "new"])
        for login in [first.login, second.login] {
            #expect(try await server.account("1130", session: login.session) == nil)
            #expect(try await server.book.token(named: login.token) == nil)
        }
        #expect(try !server.has("/a.txt", account: "1130") && server.has("/b.txt", account: "7"))
        #expect(try await server.account("7", session: other.login.session) != nil)
        #expect(try await server.book.logOut("1130", sessions: server.sessions).isEmpty)
    }

    @Test("DISK-05 a login in a browser ends once, within ten minutes", arguments: StoreKind.allCases)
    func authorizations(kind: StoreKind) async throws {
        let book = try await Server.alone(kind).book
        try await book.beginAuthorization(state: "one", verifier: "v", at: epoch)
        #expect(try await book.endAuthorization(state: "other", at: epoch) == nil)
        #expect(try await book.endAuthorization(state: "one", at: epoch.addingTimeInterval(599)) == "v")
        #expect(try await book.endAuthorization(state: "one", at: epoch) == nil)
        try await book.beginAuthorization(state: "two", verifier: "v", at: epoch)
        #expect(try await book.endAuthorization(state: "two", at: epoch.addingTimeInterval(601)) == nil)
        #expect(try await !book.isOnboardingSeen())
        try await book.setOnboardingSeen(true)
        #expect(try await book.isOnboardingSeen())
    }

    @Test("DISK-05 a token is replaced by what it is granted for, unless that was done", arguments: StoreKind.allCases)
    func refresh(kind: StoreKind) async throws {
        let server = try await Server.alone(kind)
        let login = try #require(try await server.logIn("1130", old, at: epoch)).login
        struct Away: Error {}
        let book = server.book
        await #expect(throws: Away.self) { try await book.refresh(old, named: login.token) { throw Away() } }
        let first = try await book.refresh(old, named: login.token) { [new] in new }
        let second = try await book.refresh(old, named: login.token) { throw Away() }
        #expect(first == new && second == new)
        #expect(try await server.book.token(named: login.token) == new)
        _ = try await server.book.logOut("1130", sessions: server.sessions)
        #expect(try await server.book.token(named: login.token) == nil)
    }

    @Test("SCALE-16 two servers that need a new token at once use the refresh token once")
    func once() async throws {
        let access = try await SharedStoreAccess.temporary(SharedLogins.migrations + SharedOutbox.migrations)
        let servers = [try await Server(access), try await Server(access.otherServer())]
        let login = try #require(try await servers[0].logIn("1130", old, at: epoch)).login
        let grants = Grants()
        let gate = Gate()
        async let first = servers[0].book.refresh(old, named: login.token) { [new] in
            grants.count.withLock { $0 += 1 }
            await gate.pass()
            return new
        }
        await BoundedWait.poll(for: "the first grant") { grants.count.withLock { $0 } == 1 }
        async let second = servers[1].book.refresh(old, named: login.token) { [new] in
            grants.count.withLock { $0 += 1 }
            return new
        }
        gate.open()
        #expect(try await [first, second] == [new, new] && grants.count.withLock { $0 } == 1)
    }

    @Test("SCALE-06 a logout on one server removes all of the account on another, before it answers and at its start")
    func loggedOut() async throws {
        let access = try await SharedStoreAccess.temporary(SharedLogins.migrations + SharedOutbox.migrations)
        let (one, other) = (try await Server(access), try await Server(access.otherServer()))
        let login = try #require(try await one.logIn(at: epoch)).login
        for path in ["/a.txt", "/b.txt"] {
            #expect(try await other.account("1130", session: login.session)?.login == login)
            try await other.keep(path, account: "1130")
        }
        _ = try await one.book.logOut("1130", sessions: one.sessions)
        #expect(try other.has("/a.txt", account: "1130"), "it was not told")
        #expect(try await other.account("1130", session: login.session) == nil)
        #expect(try !other.has("/a.txt", account: "1130") && !other.has("/b.txt", account: "1130"))
        // A server that was down, while the account was logged out and in again.
        let again = try #require(try await one.logIn(at: epoch.addingTimeInterval(1))).login
        #expect(try await other.account("1130", session: again.session) != nil)
        try await other.keep("/c.txt", account: "1130")
        try await other.shared?.forgetLoggedOut()
        #expect(try other.has("/c.txt", account: "1130"), "it is logged in")
        _ = try await one.book.logOut("1130", sessions: one.sessions)
        let last = try #require(try await one.logIn(at: epoch.addingTimeInterval(2))).login
        try await other.shared?.forgetLoggedOut()
        #expect(try !other.has("/c.txt", account: "1130"))
        #expect(try await other.account("1130", session: last.session) != nil)
    }

    @Test("SCALE-03 of many logins at once each is known from its beginning, whatever was read of the others before")
    func manyLogins() async throws {
        let access = try await SharedStoreAccess.temporary(SharedLogins.migrations + SharedOutbox.migrations)
        let servers = [try await Server(access), try await Server(access.otherServer())]
        let (logins, looks) = (24, 8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<logins {
                let server = servers[number % 2]
                group.addTask { [epoch] in
                    let account = try await server.logIn(at: epoch.addingTimeInterval(Double(number)))
                    let session = try #require(account?.login.session, "the login of \(number) was not known")
                    for look in 0..<looks {
                        let known = try await server.account("1130", session: session)
                        #expect(known?.login.session == session, "login \(number) was forgotten at look \(look)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("SCALE-06 an account that is logged in again while a server looks for logouts stays logged in there")
    func loggedInAgain() async throws {
        let access = try await SharedStoreAccess.temporary(SharedLogins.migrations + SharedOutbox.migrations)
        let (one, other) = (try await Server(access), try await Server(access.otherServer()))
        for round in 0..<10 {
            let login = try #require(try await one.logIn(at: epoch.addingTimeInterval(Double(round)))).login
            async let looked = other.shared?.forgetLoggedOut()
            #expect(try await other.account("1130", session: login.session)?.login == login, "in round \(round)")
            _ = try await looked
            #expect(try await other.account("1130", session: login.session) != nil)
            _ = try await one.book.logOut("1130", sessions: one.sessions)
        }
    }

    @Test("A change by one server ends what another one has of the account's lists, and not its rows")
    func epochs() async throws {
        let access = try await SharedStoreAccess.temporary(SharedLogins.migrations + SharedOutbox.migrations)
        let (one, other) = (try await Server(access), try await Server(access.otherServer()))
        let login = try #require(try await one.logIn(at: epoch)).login
        let before = try #require(try await other.account("1130", session: login.session))
        try await other.keep("/a.txt", account: "1130")
        #expect(try await one.shared?.nextEpoch(of: "1130") == before.epoch + 1)
        let token = other.cache.changeToken(account: "1130")
        #expect(token.holds)
        let after = try #require(try await other.account("1130", session: login.session))
        #expect(after.epoch == before.epoch + 1 && !token.holds)
        #expect(try other.has("/a.txt", account: "1130"))
        #expect(try await one.shared?.nextEpoch(of: "nobody") == nil)
    }

    @Test("A server with another key is refused, and secrets do not open under another name")
    func keys() async throws {
        let access = try await SharedStoreAccess.temporary(SharedLogins.migrations + SharedOutbox.migrations)
        _ = try await Server(access)
        await #expect(throws: SharedSeal.WrongKey.self) {
            try await Server(access.otherServer(), key: SymmetricKey(data: Data(repeating: 8, count: 32)))
        }
        let seal = SharedSeal(key: Server.key)
        let sealed = try seal.seal(Data([1, 2]), name: "one")
        #expect(try seal.open(sealed, name: "one") == Data([1, 2]))
        #expect(throws: StorageError.self) { try seal.open(sealed, name: "other") }
    }
}
