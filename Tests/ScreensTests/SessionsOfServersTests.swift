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

/// Sessions on servers whose files follow one journal.
@Suite("Sessions of several servers", .timeLimit(.minutes(10)))
struct SessionsOfServersTests {
    /// One of the servers.
    private struct Node: Sendable {
        let users: UserDatabase
        let sessions: SessionStore

        init(_ access: ClusterAccess, _ clock: ManualClock = ManualClock(), kept: Duration = .zero) throws {
            let database = try LarderDatabase.temporary(migrations: SessionStore.migrations + Journal.fileMigrations)
            users = access.users(in: database, SessionStore.replicated, kept: kept)
            sessions = SessionStore(users, lifetime: .seconds(400 * 86_400), clock: clock.wallClock)
        }

        func open(_ account: String = "a", at time: Date = ten) async throws -> SessionCredentials {
            let session = Session(app: "ships", kind: .user, account: account, name: "A", createdAt: time)
            return SessionCredentials([.authorization: "Bearer \(try await sessions.open(session))"])
        }

        func account(_ credentials: SessionCredentials) async throws -> String? {
            try await sessions.knownSession(of: credentials, app: "ships")?.account
        }

        func close(_ credentials: SessionCredentials) async throws {
            try await sessions.close(credentials, app: "ships")
        }

        /// When each session was used.
        func uses() async throws -> [Int64] {
            try await users.catchUpToEnd()
            return try users.read { try Int64.fetchAll($0, sql: "SELECT used_at FROM session ORDER BY used_at") }
        }
    }

    private static let unknown = SessionCredentials([.authorization: "Bearer unknown"])

    private static func journalled(_ access: ClusterAccess) async throws -> Int? {
        try await access.database.rows("SELECT count(*) AS count FROM journal") { try $0.value("count") as Int }.first
    }

    /// Runs a test on two servers that hear each other, and rely for a minute on the rows that they have read.
    private static func hearing(_ test: (ClusterAccess, Node, Node) async throws -> Void) async throws {
        let access = try await ClusterAccess.temporary(kept: .seconds(60))
        let other = access.otherServer(kept: .seconds(60))
        let (one, two) = (try Node(access, kept: .seconds(60)), try Node(other, kept: .seconds(60)))
        let running = await access.hear(other)
        defer { running.cancel() }
        try await test(access, one, two)
    }

    @Test("SCALE-03 A session is open on the other server with its next request, and ends there as soon as it is told")
    func both() async throws {
        try await Self.hearing { _, one, two in
            #expect(try await two.account(Self.unknown) == nil)
            let (first, second) = (try await one.open(), try await one.open("b"))
            #expect(try await two.account(first) == "a")
            #expect(try await two.account(second) == "b")
            let (ending, lasting) = (
                two.sessions.changeToken(of: first, app: "ships"), two.sessions.changeToken(of: second, app: "ships")
            )
            let ended = Watched<[Data]>([])
            two.sessions.onEnd { hash in ended.update { $0.append(hash) } }
            // A login ends nothing that other sessions are shown.
            _ = try await one.open("c")
            try await two.users.catchUpToEnd()
            #expect(ending.holds(at: .now()) && lasting.holds(at: .now()))
            try await one.close(first)
            #expect(try await one.account(first) == nil)
            try await BoundedWait.poll(for: "the end") {
                _ = try await two.users.catchUp()
                return !ending.holds(at: .now())
            }
            #expect(try await two.account(first) == nil)
            #expect(try await two.account(second) == "b")
            #expect(lasting.holds(at: .now()))
            #expect(ended.value == [try #require(try first.tokenHash(of: "ships"))])
        }
    }

    @Test("SCALE-09 A server that hears nothing relies on no session that it has read")
    func deaf() async throws {
        let access = try await ClusterAccess.temporary()
        let (one, two) = (try Node(access), try Node(access.otherServer(), kept: .seconds(60)))
        let session = try await one.open()
        #expect(try await two.account(session) == "a")
        #expect(!two.sessions.changeToken(of: session, app: "ships").holds(at: .now()))
        try await one.close(session)
        #expect(try await two.account(session) == nil)
    }

    @Test("SCALE-23 While PostgreSQL is away a session is open, also one never used here; others are not known")
    func away() async throws {
        let postgres = try await RunningPostgres.start()
        let access = try await ClusterAccess.temporary(on: postgres)
        let (one, two) = (try Node(access), try Node(access.otherServer()))
        let (session, closed) = (try await one.open(), try await one.open())
        try await one.close(closed)
        try await two.users.catchUpToEnd()
        try postgres.stop("immediate")
        for node in [one, two] {
            #expect(try await node.account(session) == "a")
            for credentials in [Self.unknown, closed] {
                await #expect(throws: ClusterError.self) { try await node.account(credentials) }
            }
            await #expect(throws: ClusterError.self) { _ = try await node.open() }
            await #expect(throws: ClusterError.self) { try await node.close(session) }
            #expect(try await node.account(session) == "a")
        }
        try postgres.restart()
        await BoundedWait.poll(for: "the store") { (try? await two.close(session)) != nil }
        await BoundedWait.poll(for: "the end") { (try? await one.account(session) == .none) == true }
    }

    @Test("Both servers end sessions and write uses at once: each file follows, and has the same rows")
    func atOnce() async throws {
        let access = try await ClusterAccess.temporary()
        let clock = ManualClock(ten)
        let nodes = [try Node(access, clock), try Node(access.otherServer(), clock)]
        var opened: [SessionCredentials] = []
        for number in 0..<8 { opened.append(try await nodes[number % 2].open("\(number % 3)")) }
        clock.advance(by: .seconds(2 * 86_400))
        let all = opened
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes {
                for credentials in all { _ = try await node.account(credentials) }
                group.addTask { try await node.sessions.storeUses() }
                group.addTask {
                    try await node.users.write(scope: "ships", locks: [SessionStore.lock]) { db in
                        try node.sessions.close(app: "ships", account: "1", in: db)
                    }
                }
                group.addTask { try await node.close(all[0]) }
            }
            try await group.waitForAll()
        }
        let used = clock.now.millisecondsSince1970
        for node in nodes { #expect(try await node.uses() == Array(repeating: used, count: 4)) }
    }

    @Test("A use is written once a day by one of the servers, and counts on all")
    func uses() async throws {
        let access = try await ClusterAccess.temporary()
        let clock = ManualClock(ten)
        let (one, two) = (try Node(access, clock), try Node(access.otherServer(), clock))
        let session = try await one.open(at: clock.now)
        let opened = clock.now.millisecondsSince1970
        for node in [one, two] {
            #expect(try await node.account(session) == "a")
            try await node.sessions.storeUses()
        }
        #expect(try await Self.journalled(access) == 1)
        clock.advance(by: .seconds(86_401))
        for node in [one, two] {
            #expect(try await node.account(session) == "a")
            try await node.sessions.storeUses()
            #expect(try await node.uses() == [opened + 86_401_000])
        }
        #expect(try await Self.journalled(access) == 2)
    }

    @Test("SCALE-06 What belongs to an expired session goes before it; a removal that fails is made again")
    func expiry() async throws {
        struct Refused: Error {}
        let access = try await ClusterAccess.temporary()
        let clock = ManualClock(ten)
        let (one, two) = (try Node(access, clock), try Node(access.otherServer(), clock))
        let expired = try await one.open("a", at: clock.now)
        _ = (try await one.open("a", at: clock.now), try await two.open("b", at: clock.now))
        clock.advance(by: .seconds(300 * 86_400))
        let open = try await two.open("b", at: clock.now)
        clock.advance(by: .seconds(101 * 86_400))
        let removed = Watched<[String]>([])
        one.sessions.letExpire(sessionsOf: "ships", shared: { _ in throw Refused() })
        two.sessions.letExpire(
            sessionsOf: "ships",
            { _, _ in Issue.record("that is for a server by itself") },
            shared: { expired in removed.update { $0.append("\(expired.account) \(expired.isLast)") } }
        )
        #expect(try await one.account(expired) == nil)
        await #expect(throws: Refused.self) { try await one.sessions.endUnused() }
        #expect(try await one.uses().count == 4)
        try await two.sessions.endUnused()
        #expect(removed.value.sorted() == ["a true", "a true", "b false"])
        try await two.sessions.endUnused()
        #expect(removed.value.count == 3)
        for node in [one, two] {
            #expect(try await node.uses().count == 1)
            #expect(try await node.account(open) == "b")
        }
    }

    @Test("The cookies of all servers of a journal have one name, which is copied with the rows")
    func cookies() async throws {
        let access = try await ClusterAccess.temporary()
        let (one, two) = (try Node(access), try Node(access.otherServer()))
        for node in [one, two] { try await node.users.catchUpToEnd() }
        let shared = try SessionCookies(one.users)
        #expect(try SessionCookies(two.users) == shared && SessionCookies(SealedSecrets(one.users.database)) != shared)

        let copied = try LarderDatabase.temporary(migrations: SessionStore.migrations + Journal.fileMigrations)
        let copy = JournalCopy(SessionStore.replicated, schema: 1, of: copied, in: access.database)
        try await access.database.write { transaction in
            try copied.write { db in
                try SessionCookies(ofJournal: try copy.copy(transaction, to: db)).record(db)
                try SessionCookies(instance: "others").record(db)
            }
        }
        #expect(try SessionCookies(UserDatabase(copied)) == shared)
        // A journal of its own begins with the copy.
        let next = try await ClusterAccess.temporary()
        let start = JournalCopy(SessionStore.replicated, schema: 1, of: copied, in: next.database)
        try await next.database.write { transaction in try copied.read { try start.copy($0, to: transaction) } }
        let node = try Node(next)
        try await node.users.catchUpToEnd()
        #expect(try SessionCookies(node.users) == shared)
    }
}
