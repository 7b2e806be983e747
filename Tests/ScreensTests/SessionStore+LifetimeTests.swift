import Database
import Foundation
import Freshness
import GRDB
import HTTPTypes
import NIOCore
import ResponseStore
import TestKit
import Testing
import Upstream

@testable import Screens

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
        SessionStore(database, lifetime: .seconds(400 * 86_400), clock: clock.wallClock)
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
        let count = { try self.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM session") } }
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
        let endless = SessionStore(database, clock: clock.wallClock)
        endless.letExpire(sessionsOf: "ships")
        advance(days: 1000)
        let count = { try self.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM session") } }
        try await endless.endUnused()
        #expect(try count() == 1200)
        try await store.endUnused()
        #expect(try count() == 0)
    }

    @Test("Looking for unused sessions, and ending them, walks an index")
    func plans() throws {
        for sql in [LocalSessions.selectUnused, LocalSessions.deleteUnused, LocalSessions.updateUse] {
            let plan = try QueryPlan(sql, in: database)
            #expect(!plan.scans && !plan.sorts, "\(plan)")
        }
    }
}
