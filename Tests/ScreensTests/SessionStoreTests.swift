import Cluster
import Concurrency
import Foundation
import GRDB
import HTTPTypes
import NIOCore
import Storage
import TestKit
import Testing

@testable import Screens

struct SessionTokenTests {
    @Test("SRV-11 A token has 256 bits, is safe in a header and never the same")
    func tokens() {
        let tokens = (1...200).map { _ in SessionToken.make() }
        #expect(Set(tokens).count == 200)
        #expect(
            tokens.allSatisfy {
                $0.count == 43
                    && $0.utf8.allSatisfy {
                        ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D
                            || $0 == 0x5F
                    }
            }
        )
    }

    @Test(
        "The token of an Authorization field",
        arguments: ["Bearer abc", "bearer abc", "BEARER   abc", "Bearer abc "]
    )
    func bearer(value: String) throws {
        #expect(try SessionCredentials.bearerToken(in: [value]) == "abc")
    }

    @Test("SRV-11 No field is no token; another scheme, no token after it or two fields are refused")
    func broken() async throws {
        #expect(try SessionCredentials.bearerToken(in: []) == nil)
        for values in [["Basic abc"], ["Bearer"], ["Bearer "], ["abc"], [""], ["Bearer a", "Bearer b"]] {
            let problem = #expect(throws: Problem.self) { try SessionCredentials.bearerToken(in: values) }
            #expect(problem?.code == .sessionRequired)
        }
    }
}

struct SessionStoreTests {
    private let database: LarderDatabase
    private let store: SessionStore
    private let session = Session(
        app: "ships",
        kind: .user,
        account: "user:a@b.example",
        name: "a@b.example",
        createdAt: ten
    )

    init() throws {
        database = try LarderDatabase.temporary(migrations: SessionStore.migrations)
        store = SessionStore(UserDatabase(database))
    }

    private func credential(_ token: String) -> SessionCredentials {
        SessionCredentials([.authorization: "Bearer \(token)"])
    }

    /// A session that is read back by its token: with the identity that follows from the token.
    private func stored(_ session: Session, _ token: String) -> Session {
        Session(
            app: session.app,
            kind: session.kind,
            account: session.account,
            name: session.name,
            createdAt: session.createdAt,
            id: SessionToken.hash(token).map { String(format: "%02X", $0) }.joined()
        )
    }

    @Test("DISK-37 The identity of a session is the one it was opened under, and no other session's")
    func identities() async throws {
        let (first, second) = (SessionStore.newToken(for: .bearer), SessionStore.newToken(for: .bearer))
        try await database.write { [store, session] db in
            for opened in [first, second] { try store.open(session, token: opened.token, for: .bearer, in: db) }
        }
        #expect(first.id != second.id && first.id.count == 64 && !first.id.contains(first.token))
        for opened in [first, second] {
            let found = try await store.session(of: credential(opened.token), app: "ships")
            #expect(found == stored(session, opened.token) && found.id == opened.id)
        }
    }

    @Test("A session is found again by its token, in its app only")
    func found() async throws {
        let token = try await store.open(session)
        #expect(try await store.session(of: credential(token), app: "ships") == stored(session, token))
        let sessionExpired = await #expect(throws: Problem.self) {
            try await store.session(of: credential(token), app: "notes")
        }
        #expect(sessionExpired?.code == .sessionExpired)
        let unknown = await #expect(throws: Problem.self) {
            try await store.session(of: credential(token + "x"), app: "ships")
        }
        #expect(unknown?.code == .sessionExpired)
        let sessionRequired = await #expect(throws: Problem.self) {
            try await store.session(of: SessionCredentials([:]), app: "ships")
        }
        #expect(sessionRequired?.code == .sessionRequired)
    }

    @Test("Guests have no name; several sessions of one account live side by side")
    func guests() async throws {
        let guest = Session(app: "ships", kind: .guest, account: "guest:1", name: nil, createdAt: ten)
        let (first, second) = (try await store.open(guest), try await store.open(guest))
        #expect(first != second)
        try await store.close(credential(first), app: "ships")
        await #expect(throws: Problem.self) { try await store.session(of: credential(first), app: "ships") }
        #expect(try await store.session(of: credential(second), app: "ships") == stored(guest, second))
    }

    @Test(
        "SRV-11 A logout ends what a mount keeps for a token of ours, under whichever scheme it came",
        arguments: ["Bearer ", "OAuth ", "Token a ", ""]
    )
    func ownToken(scheme: String) async throws {
        let (token, other) = (try await store.open(session), try await store.open(session))
        let tokens = SessionToken.possibleHashes(in: [.authorization: scheme + token])
        let changeToken = store.changeToken(ofAny: tokens)
        #expect(try await store.session(ofAny: tokens) == stored(session, token))
        #expect(changeToken.holds(at: .now()))
        try await store.close(credential(token), app: "ships")
        #expect(try await store.session(ofAny: tokens) == nil)
        #expect(!changeToken.holds(at: .now()))
        #expect(store.changeToken(ofAny: SessionToken.possibleHashes(in: [:])).holds(at: .now()))
        let others = SessionToken.possibleHashes(in: [.authorization: scheme + other])
        #expect(store.changeToken(ofAny: others).holds(at: .now()))
    }

    @Test("Closing twice, or nothing, is no error")
    func closing() async throws {
        let token = try await store.open(session)
        try await store.close(credential(token), app: "ships")
        try await store.close(credential(token), app: "ships")
        try await store.close(SessionCredentials([:]), app: "ships")
    }

    @Test("SRV-11 The database holds no token, only its hash")
    func hashedOnly() async throws {
        let token = try await store.open(session)
        let row = try #require(try database.read { try Row.fetchOne($0, sql: "SELECT * FROM session") })
        #expect(row["token_hash"] == SessionToken.hash(token))
        for (_, value) in row {
            let text =
                Data.fromDatabaseValue(value).map { String(decoding: $0, as: UTF8.self) } ?? String.fromDatabaseValue(
                    value
                ) ?? ""
            #expect(!text.contains(token))
        }
        try await database.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        let file = try Data(contentsOf: URL(filePath: database.directory.databasePath))
        #expect(file.range(of: Data(token.utf8)) == nil)
        #expect(file.range(of: SessionToken.hash(token)) != nil)
    }
}

@Suite("How long sessions last")
struct SessionStoreLifetimeTests {
    private let clock = ManualClock(ten)
    private let database: LarderDatabase
    private let store: SessionStore

    init() throws {
        database = try LarderDatabase.temporary(migrations: SessionStore.migrations)
        store = Self.store(database, clock)
        store.letExpire(sessionsOf: "ships")
    }

    private static func store(_ database: LarderDatabase, _ clock: ManualClock) -> SessionStore {
        SessionStore(UserDatabase(database), lifetime: .seconds(400 * 86_400), clock: clock.wallClock)
    }

    private func open(_ account: String = "a", app: String = "ships") async throws -> SessionCredentials {
        let session = Session(app: app, kind: .user, account: account, name: nil, createdAt: clock.now)
        return SessionCredentials([.authorization: "Bearer \(try await store.open(session))"])
    }

    private func isOpen(_ credential: SessionCredentials, app: String = "ships") async throws -> Bool {
        try await store.knownSession(of: credential, app: app) != nil
    }

    private func openOnes(_ credentials: SessionCredentials...) async throws -> [Bool] {
        var open: [Bool] = []
        for credential in credentials { open.append(try await isOpen(credential)) }
        return open
    }

    private func advance(days: Int) { clock.advance(by: .seconds(days * 86_400)) }

    @Test("A session ends when it was not used for its lifetime; each use, also of a cached response, prolongs it")
    func sliding() async throws {
        let (unused, used, cached) = (try await open(), try await open(), try await open())
        let response = store.changeToken(of: unused, app: "ships")
        let others = store.changeToken(of: cached, app: "ships")
        advance(days: 399)
        #expect(try await isOpen(used))
        others.noteUse(at: .now())
        try await store.endUnused()
        #expect(response.holds(at: .now()) && others.holds(at: .now()))
        advance(days: 2)
        try await store.endUnused()
        #expect(!response.holds(at: .now()) && others.holds(at: .now()))
        #expect(try await openOnes(unused, used, cached) == [false, true, true])
        advance(days: 399)
        try await store.endUnused()
        #expect(try await openOnes(used, cached) == [true, true], "they were used when that was looked at")
        advance(days: 401)
        try await store.endUnused()
        #expect(try await openOnes(used, cached) == [false, false])
    }

    @Test("An expired session opens nothing, even before anything has ended it; its stream of events ends as well")
    func expired() async throws {
        let credential = try await open()
        let hash = try #require(try credential.tokenHash(of: "ships"))
        advance(days: 401)
        #expect(try await !isOpen(credential))
        #expect(try await store.storedSession(hash) == nil)
        let ended = Watched<[Data]>([])
        store.onEnd { end in ended.update { $0.append(end) } }
        try await store.endUnused()
        #expect(ended.value == [hash])
    }

    @Test("Uses that were not written are kept; those of the same day are written once")
    func uses() async throws {
        let credential = try await open()
        let used = { try self.database.read { try Int64.fetchOne($0, sql: "SELECT used_at FROM session") } }
        let opened = clock.now.millisecondsSince1970
        clock.advance(by: .seconds(3600))
        #expect(try await isOpen(credential))
        try await store.storeUses()
        #expect(try used() == opened)
        advance(days: 1)
        #expect(try await isOpen(credential))
        let time = clock.now.millisecondsSince1970
        let stopped = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.storeUses()
        }
        await #expect(throws: CancellationError.self) { try await stopped.value }
        #expect(try used() == opened)
        try await store.storeUses()
        #expect(try used() == time)
    }

    @Test("What belongs to it is deleted in the same transaction, or it stays; sessions of other apps stay")
    func removal() async throws {
        struct Refused: Error {}
        _ = (try await open("a"), try await open("a"), try await open("b"), try await open("c", app: "disk"))
        advance(days: 300)
        _ = try await open("b")
        advance(days: 200)
        let removed = Watched<[String]>([])
        store.letExpire(sessionsOf: "ships") { _, _ in throw Refused() }
        await #expect(throws: Refused.self) { try await store.endUnused() }
        let count = { try self.database.integer("SELECT count(*) FROM session") }
        #expect(try count() == 5)
        store.letExpire(sessionsOf: "ships") { expired, _ in
            removed.update { $0.append("\(expired.account) \(expired.isLast) \(expired.id.count)") }
        }
        try await store.endUnused()
        #expect(removed.value.sorted() == ["a true 64", "a true 64", "b false 64"])
        #expect(try count() == 2)
    }

    @Test("Many end in parts; without a lifetime none ends")
    func many() async throws {
        for number in 0..<1200 { _ = try await open("\(number)") }
        let endless = SessionStore(UserDatabase(database), clock: clock.wallClock)
        endless.letExpire(sessionsOf: "ships")
        advance(days: 1000)
        let count = { try self.database.integer("SELECT count(*) FROM session") }
        try await endless.endUnused()
        #expect(try count() == 1200)
        try await store.endUnused()
        #expect(try count() == 0)
    }

    @Test("Looking for unused sessions, and ending them, walks an index")
    func plans() throws {
        for sql in [SessionTable.select, SessionTable.selectUse, SessionTable.selectUnused, SessionTable.updateUse] {
            let plan = try QueryPlan(sql, in: database)
            #expect(!plan.scans && !plan.sorts, "\(plan)")
        }
    }
}
