import Concurrency
import Crypto
import Foundation
import GRDB
import HTTP
import Storage
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Cluster
@testable import Disk
@testable import Screens

/// How many tokens OAuth was asked for.
private final class Grants: Sendable { let count = Mutex(0) }

/// Accounts, logins and marks on a server by itself, and on servers whose files follow one journal.
@Suite("The Disk's accounts and marks, of one server and of several", .timeLimit(.minutes(10)))
struct DiskOfServersTests {
    private let old = DiskToken(accessToken: "old", refreshToken: "once", expiresAt: nil)
    private let new = DiskToken(accessToken: "new", refreshToken: "next", expiresAt: nil)

    private static func after(_ seconds: Double) -> Date { DiskNode.noon.addingTimeInterval(seconds) }

    // MARK: Logins

    @Test("DISK-37 each login has its own token; a logout ends all of the account", arguments: StoreKind.allCases)
    func logins(kind: StoreKind) async throws {
        let server = try await DiskNode.alone(kind)
        let store = server.cache
        let first = try #require(try await server.logIn("1130", old))
        let second = try #require(try await server.logIn("1130", new, at: Self.after(1)))
        let other = try #require(try await server.logIn("7", old))
        #expect(first.linkedAt == DiskNode.noon && second.linkedAt == DiskNode.noon)
        #expect(first.space.used == 10 && first.name == "anna")
        #expect(first.epoch == second.epoch && first.epoch > 0)
        #expect(try store.token(named: first.login.token) == old && store.token(named: second.login.token) == new)
        try await store.setRejected(true, of: first)
        #expect(try await server.account(session: first.login.session)?.login.isRejected == true)
        #expect(try await server.account(session: second.login.session)?.login.isRejected == false)
        #expect(try await server.account(session: other.login.session) == nil)
        try await server.keep("/a.txt")
        try await server.keep("/b.txt", account: "7")
        #expect(Set(try await server.logOut().map(\.accessToken)) == ["old", "new"])
        for login in [first.login, second.login] {
            #expect(try await server.account(session: login.session) == nil)
            #expect(try store.token(named: login.token) == nil)
        }
        #expect(try !server.has("/a.txt") && server.has("/b.txt", account: "7"))
        #expect(try await server.account("7", session: other.login.session) != nil)
        #expect(try await server.logOut().isEmpty)
    }

    @Test("DISK-05 a login in a browser ends once, within ten minutes", arguments: StoreKind.allCases)
    func authorizations(kind: StoreKind) async throws {
        let store = try await DiskNode.alone(kind).cache
        try await store.beginAuthorization(state: "one", verifier: "v", at: DiskNode.noon)
        #expect(try await store.endAuthorization(state: "other", at: DiskNode.noon) == nil)
        #expect(try await store.endAuthorization(state: "one", at: Self.after(599)) == "v")
        #expect(try await store.endAuthorization(state: "one", at: DiskNode.noon) == nil)
        try await store.beginAuthorization(state: "two", verifier: "v", at: DiskNode.noon)
        #expect(try await store.endAuthorization(state: "two", at: Self.after(601)) == nil)
    }

    @Test("SCALE-03 A login that begins in a browser at one server ends at another; the onboarding is seen on both")
    func elsewhere() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.cache.beginAuthorization(state: "s", verifier: "v", at: DiskNode.noon)
        #expect(try await other.cache.endAuthorization(state: "s", at: DiskNode.noon) == "v")
        #expect(try await one.cache.endAuthorization(state: "s", at: DiskNode.noon) == nil)
        #expect(try await !other.cache.isOnboardingSeen())
        try await one.cache.setOnboardingSeen(true)
        #expect(try await other.cache.isOnboardingSeen())
    }

    @Test("DISK-05 a token is replaced by what it is granted for, unless that was done", arguments: StoreKind.allCases)
    func refresh(kind: StoreKind) async throws {
        struct Away: Error {}
        let server = try await DiskNode.alone(kind)
        let store = server.cache
        let name = try #require(try await server.logIn("1130", old)).login.token
        await #expect(throws: Away.self) { try await store.refresh(old, named: name, of: "1130") { throw Away() } }
        let first = try await store.refresh(old, named: name, of: "1130") { [new] in new }
        let second = try await store.refresh(old, named: name, of: "1130") { throw Away() }
        #expect(first == new && second == new)
        #expect(try store.token(named: name) == new)
        try await server.logOut()
        #expect(try store.token(named: name) == nil)
    }

    @Test("SCALE-16 two servers that need a new token at once use the refresh token once")
    func once() async throws {
        let (one, other) = try await DiskNode.two()
        let name = try #require(try await one.logIn("1130", old)).login.token
        try await other.follow()
        let (grants, gate) = (Grants(), Gate())
        async let first = one.cache.refresh(old, named: name, of: "1130") { [new] in
            grants.count.withLock { $0 += 1 }
            await gate.pass()
            return new
        }
        await BoundedWait.poll(for: "the first grant") { grants.count.withLock { $0 } == 1 }
        async let second = other.cache.refresh(old, named: name, of: "1130") { [new] in
            grants.count.withLock { $0 += 1 }
            return new
        }
        gate.open()
        #expect(try await [first, second] == [new, new] && grants.count.withLock { $0 } == 1)
    }

    @Test("SCALE-06 a logout on one server removes all of the account on another, before it answers and at its start")
    func loggedOut() async throws {
        let access = try await DiskNode.store()
        let directory = try DataDirectory.temporary()
        let one = try DiskNode(access)
        let last: String
        do {
            let other = try DiskNode(access.otherServer(), in: directory)
            let login = try #require(try await one.logIn()).login
            #expect(try await other.account(session: login.session)?.login == login)
            for path in ["/a.txt", "/b.txt"] { try await other.keep(path) }
            try await one.logOut()
            #expect(try other.has("/a.txt"), "it was not told")
            #expect(try await other.account(session: login.session) == nil)
            #expect(try !other.has("/a.txt") && !other.has("/b.txt"))
            // A server that was down, while the account was logged out and in again.
            let again = try #require(try await one.logIn(at: Self.after(1))).login
            #expect(try await other.account(session: again.session) != nil)
            try await other.keep("/c.txt")
            try await other.cache.followAll()
            #expect(try other.has("/c.txt"), "it is logged in")
            try await one.logOut()
            last = try #require(try await one.logIn(at: Self.after(2))).login.session
            try other.cache.database.close()
        }
        let other = try DiskNode(access.otherServer(), in: directory)
        #expect(try other.has("/c.txt"))
        _ = try await other.cache.users.catchUp()
        try await other.cache.followAll()
        #expect(try !other.has("/c.txt"))
        #expect(try await other.account(session: last) != nil)
    }

    @Test("SCALE-03 of many logins at once each is known from its beginning, whatever was read of the others before")
    func manyLogins() async throws {
        let (one, other) = try await DiskNode.two()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                let server = number % 2 == 0 ? one : other
                group.addTask {
                    let account = try await server.logIn(at: Self.after(Double(number)))
                    let session = try #require(account?.login.session, "the login of \(number) was not known")
                    for look in 0..<8 {
                        let known = try await server.account(session: session)
                        #expect(known?.login.session == session, "login \(number) was forgotten at look \(look)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("SCALE-06 an account that is logged in again while a server looks for logouts stays logged in there")
    func loggedInAgain() async throws {
        let (one, other) = try await DiskNode.two()
        for round in 0..<10 {
            let login = try #require(try await one.logIn(at: Self.after(Double(round)))).login
            async let looked: Void = other.cache.followAll()
            #expect(try await other.account(session: login.session)?.login == login, "in round \(round)")
            try await looked
            #expect(try await other.account(session: login.session) != nil)
            try await one.logOut()
        }
    }

    @Test("SCALE-03 A change by one server is counted on another one, which keeps the account's rows")
    func epochs() async throws {
        let (one, other) = try await DiskNode.two()
        let login = try #require(try await one.logIn()).login
        let before = try #require(try await other.account(session: login.session))
        try await other.keep("/a.txt")
        let applied = try await one.cache.apply(.doubtful, account: "1130", at: DiskNode.noon)
        #expect(applied?.epoch == before.epoch + 1)
        let after = try #require(try await other.account(session: login.session))
        #expect(after.epoch == before.epoch + 1)
        #expect(try other.has("/a.txt"))
        #expect(try await one.cache.apply(.doubtful, account: "nobody", at: DiskNode.noon) == nil)
    }

    @Test("SCALE-06 A session that expires takes its token along on all servers, the last one its account")
    func expiry() async throws {
        let (one, other) = try await DiskNode.two()
        let first = try #require(try await one.logIn("1130", old)).login
        let second = try #require(try await one.logIn("1130", new)).login
        try await other.follow()
        try await other.keep("/a.txt")
        for (login, isLast) in [(first, false), (second, true)] {
            try await one.cache.remove(.init(id: login.session, account: "1130", isLast: isLast))
            #expect(try await other.account(session: login.session) == nil)
            #expect(try other.cache.token(named: login.token) == nil && other.has("/a.txt") != isLast)
        }
    }

    @Test("No token is readable in PostgreSQL; a server without the key that sealed it does not open it")
    func sealed() async throws {
        let (one, other) = try await DiskNode.two()
        let secret = DiskToken(accessToken: "a-secret-token", refreshToken: "a-secret-refresh", expiresAt: nil)
        let name = try #require(try await one.logIn("1130", secret)).login.token
        try await one.cache.beginAuthorization(state: "s", verifier: "a-secret-verifier", at: DiskNode.noon)
        try await other.follow()
        #expect(try other.cache.token(named: name) == secret)
        let rows = try await #require(one.access).database.rows("SELECT changeset FROM journal") {
            try $0.value("changeset") as Data
        }
        let values = try rows.flatMap { try Changeset(encoded: $0).changes }.flatMap { $0.new.compactMap(\.self) }
        let texts = values.compactMap { Data.fromDatabaseValue($0).map { String(decoding: $0, as: UTF8.self) } }
        #expect(texts.count >= 10 && !texts.contains { $0.contains("secret") })
        #expect(texts.contains(name))
        let foreign = ClusterSeal(key: SymmetricKey(data: Data(repeating: 8, count: 32))).userSecrets
        #expect(throws: StorageError.self) {
            try other.cache.database.read { try foreign.secret(name: name, in: $0) }
        }
    }

    // MARK: Marks

    @Test("A path is marked once, up to the limit, and unmarked once", arguments: StoreKind.allCases)
    func marks(kind: StoreKind) async throws {
        let node = try await DiskNode.alone(kind)
        #expect(try await node.mark("/a") == nil, "no account")
        try await node.logIn()
        #expect(try await node.mark("/a", maximum: 2) == true)
        #expect(try await node.mark("/a", maximum: 2) == false)
        #expect(try await node.mark("/b", maximum: 2) == true)
        await #expect(throws: Problem.self) { try await node.mark("/c", maximum: 2) }
        #expect(try node.marked() == ["disk:/a", "disk:/b"])
        #expect(try await node.cache.unmark(.at("/a"), account: "1130"))
        #expect(try await !node.cache.unmark(.at("/a"), account: "1130"))
        #expect(try node.marked() == ["disk:/b"])
        try await node.logOut()
        try await node.logIn()
        #expect(try node.marked() == [])
    }

    @Test("Marks follow their files, and what is deleted has none", arguments: StoreKind.allCases)
    func changes(kind: StoreKind) async throws {
        let node = try await DiskNode.alone(kind)
        try await node.logIn()
        for path in ["/a", "/a/x", "/b/y", "/ab"] { try await node.mark(path, .dir) }
        try await node.cache.apply(.moved(from: .at("/a"), to: .at("/b")), account: "1130", at: DiskNode.noon)
        try await node.follow()
        #expect(try node.marked() == ["disk:/ab", "disk:/b", "disk:/b/x"])
        try await node.cache.apply(.deleted(.at("/b")), account: "1130", at: DiskNode.noon)
        try await node.follow()
        #expect(try node.marked() == ["disk:/ab"])
        #expect(try await node.cache.apply(.doubtful, account: "7", at: DiskNode.noon) == nil)
    }

    /// Keeps the content of a marked file.
    private static func store(_ text: String, of path: String, in node: DiskNode) async throws {
        var item = DiskItem(path: .at(path), kind: .file)
        (item.size, item.md5) = (text.utf8.count, text)
        try await node.cache.database.write { [cache = node.cache, item] db in
            try cache.enter([item], account: "1130", db)
            try db.execute(
                sql: "UPDATE disk_offline_entry SET admitted = 1 WHERE path = ?",
                arguments: [item.path.text]
            )
        }
        let blob = try node.cache.database.blobs.write(Data(text.utf8))
        let file = OfflineFile(
            account: "1130",
            path: item.path,
            version: try #require(item.version),
            size: text.utf8.count,
            attempts: 0,
            dueAt: nil,
            failure: nil
        )
        #expect(try await node.cache.keep(blob, of: file, at: DiskNode.noon))
    }

    @Test("SCALE-03 A mark of one server is another's, and keeps what each has stored when it is moved on one")
    func shared() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        try await other.follow()
        try await one.mark("/docs", .dir)
        try await one.mark("/docs/b")
        try await one.mark("/a")
        try await other.follow()
        #expect(try other.marked() == ["disk:/a", "disk:/docs", "disk:/docs/b"])
        for node in [one, other] { try await Self.store("text", of: "/docs/b", in: node) }
        let before = try #require(try other.cache.mark(.at("/docs"), account: "1130"))
        #expect(try one.cache.mark(.at("/docs"), account: "1130")?.number == before.number)
        let change = DiskChange.moved(from: .at("/docs"), to: .at("/papers"))
        let applied = try #require(try await one.cache.apply(change, account: "1130", at: DiskNode.noon))
        try await other.follow()
        #expect(try other.marked() == ["disk:/a", "disk:/papers", "disk:/papers/b"])
        #expect(try other.cache.mark(.at("/papers"), account: "1130")?.number == before.number)
        #expect(try other.cache.database.read { try DiskStore.epoch(of: "1130", $0) } == applied.epoch)
        for node in [one, other] {
            #expect(try node.cache.keptContent(of: .at("/docs/b"), account: "1130") == nil)
            let kept = try #require(try node.cache.keptContent(of: .at("/papers/b"), account: "1130"))
            #expect(try node.cache.database.blobs.reader(kept.blob).readAll() == Data("text".utf8))
        }
        for path in ["/papers", "/papers/b"] {
            #expect(try await other.cache.unmark(.at(path), account: "1130"))
        }
        try await one.follow()
        #expect(try one.marked() == ["disk:/a"])
        for node in [one, other] {
            #expect(try node.cache.keptContent(of: .at("/papers/b"), account: "1130") == nil)
            let sql = "SELECT count(*) FROM blob"
            #expect(try node.cache.database.integer(sql) == 0)
        }
    }

    @Test("A server compares the marks of an account from when the account is used there")
    func unused() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        try await one.mark("/a")
        _ = try await other.cache.users.catchUp()
        #expect(try other.cache.offlineWork(at: DiskNode.noon, limit: 9).marks.isEmpty)
        try await other.follow()
        #expect(try other.cache.offlineWork(at: DiskNode.noon, limit: 9).marks.map(\.path) == [.at("/a")])
    }

    @Test("SCALE-04 Marks that two servers make at once are all made, each once, in one order on both")
    func atOnce() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        try await other.follow()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask { try await one.mark("/\(number % 10)", maximum: 99) }
                group.addTask { try await other.mark("/\(number % 12)", maximum: 99) }
            }
            try await group.waitForAll()
        }
        for node in [one, other] { try await node.follow() }
        let pages = try [one, other].map {
            try $0.cache.offlinePage(PageRequest(limit: 100), account: "1130").rows.map(\.mark.path)
        }
        #expect(pages[0].count == 12 && pages[0] == pages[1])
    }

    @Test("A server that finds a marked file gone removes the mark on all, unless files have been changed since")
    func gone() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        try await other.follow()
        try await one.mark("/a")
        try await one.mark("/b")
        try await other.follow()
        try await other.cache.database.write { [other] in
            try other.cache.remove(.at("/a"), account: "1130", $0)
        }
        await BoundedWait.poll(for: "the removal of the mark") {
            try? await one.follow()
            return (try? one.marked()) == ["disk:/b"]
        }
        try await one.cache.apply(.doubtful, account: "1130", at: DiskNode.noon)
        let mark = try #require(try one.cache.mark(.at("/b"), account: "1130"))
        let epoch = try #require(try other.cache.database.read { try DiskStore.epoch(of: "1130", $0) })
        try await other.cache.removeMarks([mark.number], of: "1130", epoch: epoch)
        for node in [one, other] {
            try await node.follow()
            #expect(try node.marked() == ["disk:/b"])
        }
    }

    @Test("SCALE-23 While PostgreSQL is away, accounts and marks are read and nothing is changed; then all goes on")
    func storeAway() async throws {
        let postgres = try await RunningPostgres.start()
        let (one, other) = try await DiskNode.two(on: postgres)
        let login = try #require(try await one.logIn()).login
        try await one.mark("/a")
        try await other.follow()
        try postgres.stop("immediate")
        let lag = try await one.cache.catchUp("1130")
        #expect(lag != nil)
        #expect(try one.cache.account("1130", session: login.session) != nil && one.marked() == ["disk:/a"])
        await #expect(throws: ClusterError.self) { try await one.mark("/b") }
        await #expect(throws: ClusterError.self) { try await one.logOut() }
        try postgres.restart()
        try await BoundedWait.poll(for: "the store") { try await one.cache.catchUp("1130") == nil }
        try await one.mark("/b")
        try await BoundedWait.poll(for: "the mark") {
            try await other.cache.catchUp("1130")
            return try other.marked() == ["disk:/a", "disk:/b"]
        }
    }
}
