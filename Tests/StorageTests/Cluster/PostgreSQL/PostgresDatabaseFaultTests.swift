import Foundation
import Synchronization
import TestKit
import Testing

@testable import Cluster

/// Errors that callers get while their server, or its standby, is away: one test after the other, since they share it.
@Suite(.serialized) struct PostgresDatabaseFaultTests {
    private static let server = Task { try await RunningPostgres.start() }

    @Test("Without a server, callers get an error that names the place; with it, the next one is served")
    func restarted() async throws {
        let server = try await Self.server.value
        let store = try await Store(on: server).withCounters()
        try await store.database.write { try $0.increment("a") }
        try server.stop("immediate")
        let error = await #expect(throws: ClusterError.self) { try await store.counters() }
        guard case .unavailable(.notReached(let reason)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("/tmp/larder-pg-"))
        try server.restart()
        await BoundedWait.poll(for: "a connection") { (try? await store.counters()) == ["a": 1] }
    }

    @Test("A server that ends during a change has not kept it; the change is not repeated")
    func lost() async throws {
        let server = try await Self.server.value
        let store = try await Store(on: server).withCounters()
        let attempts = Atomic(0)
        await #expect(throws: ClusterError.unavailable(.connectionLost)) {
            try await store.database.write { transaction in
                attempts.add(1, ordering: .relaxed)
                try transaction.increment("a")
                try server.stop("immediate")
                try transaction.increment("b")
            }
        }
        #expect(attempts.load(ordering: .relaxed) == 1)
        try server.restart()
        await BoundedWait.poll(for: "a connection") { (try? await store.counters()) == [:] }
    }

    @Test("SCALE-08 What was acknowledged before a crash under load is there after it, and callers go on by themselves")
    func crash() async throws {
        let server = try await Self.server.value
        let store = try await Store(on: server) { $0.connections = 4 }
        try await store.database.migrate([AcknowledgedChanges.migration])
        let changes = AcknowledgedChanges(store.database)
        changes.begin(callers: 16)
        await changes.names.until("changes before the crash") { $0.count >= 200 }
        try server.stop("immediate")
        let before = changes.names.value.count
        try server.restart()
        await changes.names.until("changes after the crash") { $0.count >= before + 200 }
        await changes.end()
        #expect(try await changes.missing(in: store.database) == [])
    }

    /// Changes a counter on a server whose standby is away, and does something to the commit that waits for it.
    private func unconfirmed(_ interrupt: String?, timeout: Duration) async throws -> (ClusterError?, [String: Int]) {
        let store = try await Store(on: Self.server.value).withCounters()
        try await PostgresDatabase.require(standby: "away", store.options)
        let writer = store.other { $0.timeout = timeout }
        async let outcome = Task { try await writer.write { try $0.increment("a") } }.result
        if let interrupt {
            let sql = """
                SELECT \(interrupt)(pid) AS done FROM pg_stat_activity
                WHERE application_name = $1 AND wait_event = 'SyncRep'
                """
            try await BoundedWait.poll(for: "a commit that waits") {
                try await !store.database.rows(sql, [store.options.name]) { try $0.value("done") as Bool }.isEmpty
            }
        }
        let result = await outcome
        let error = #expect(throws: ClusterError.self) { try result.get() }
        try await PostgresDatabase.require(standby: "", store.options)
        return (error, try await store.counters())
    }

    @Test("A commit that no standby confirms in time is not acknowledged, although this server has kept it")
    func standbyAway() async throws {
        let (error, counters) = try await unconfirmed(nil, timeout: .seconds(8))
        #expect(error == .outcomeUnknown && counters == ["a": 1])
    }

    @Test(
        "A commit whose wait for a standby is cut short is not acknowledged, however the server says so",
        arguments: ["pg_cancel_backend", "pg_terminate_backend"]
    )
    func cutShort(interrupt: String) async throws {
        let (error, counters) = try await unconfirmed(interrupt, timeout: .seconds(60))
        #expect(error == .outcomeUnknown && counters == ["a": 1])
    }
}

/// A store that `script/check-scale` starts and interrupts.
private enum InterruptedStore {
    private static let environment = ProcessInfo.processInfo.environment
    static let url = environment["SCALE_STORE"]
    /// Where it is reached at the end: a member that was the primary may be it no longer.
    static let urlAfterwards = environment["SCALE_STORE_AFTERWARDS"]
    /// Where the script and the test meet: each acknowledged change adds a line to `NAME.log`, and the load ends with
    /// the pipe `NAME.end`.
    static let folder = URL(filePath: environment["SCALE_FOLDER"] ?? ".")
    static let name = environment["SCALE_WRITER"] ?? "writer"

    static func log() throws -> FileHandle {
        let file = folder.appending(path: "\(name).log")
        try Data().write(to: file)
        return try FileHandle(forWritingTo: file)
    }

    /// Returns at the end of the pipe, for which a thread waits.
    static func end() async throws {
        let pipe = folder.appending(path: "\(name).end")
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async {
                continuation.resume(with: Result { _ = try FileHandle(forReadingFrom: pipe).readToEnd() })
            }
        }
    }
}

/// The load of `script/check-scale`: Larder's own client of the store, while the script kills and cuts off its members.
@Suite(.timeLimit(.minutes(30))) struct InterruptedStoreTests {
    @Test(
        "SCALE-08 What was acknowledged while the store was interrupted is there afterwards",
        .enabled(if: InterruptedStore.url != nil, "script/check-scale starts the store; the test of a crash is small")
    )
    func interrupted() async throws {
        func open(_ url: String?) throws -> PostgresDatabase {
            PostgresDatabase(PostgresOptions(url: try #require(url)), logger: .quiet)
        }
        let database = try open(InterruptedStore.url)
        try await database.migrate([AcknowledgedChanges.migration])
        let changes = AcknowledgedChanges(
            database,
            prefix: "\(InterruptedStore.name)/",
            log: try InterruptedStore.log()
        )
        changes.begin(callers: 16)
        try await InterruptedStore.end()
        await changes.end()
        let missing = try await changes.missing(in: open(InterruptedStore.urlAfterwards))
        print("\(InterruptedStore.name): \(changes.names.value.count) acknowledged, \(missing.count) missing")
        #expect(!changes.names.value.isEmpty)
        #expect(missing == [])
    }
}

@Suite struct ServerErrorTests {
    @Test(
        "A code of the server says whether to repeat, to try later, or to give up",
        arguments: [
            ("40001", ClusterError.unavailable(.contended)), ("40P01", .unavailable(.contended)),
            ("23505", .notUnique(constraint: "c")), ("53100", .diskFull),
            ("57014", .unavailable(.timedOut)), ("55P03", .unavailable(.timedOut)), ("25P03", .unavailable(.timedOut)),
            ("25006", .unavailable(.notAccepting)), ("53300", .unavailable(.notAccepting)),
            ("57P01", .unavailable(.connectionLost)), ("08006", .unavailable(.connectionLost)),
        ]
    )
    func meaning(code: String, meaning: ClusterError) {
        #expect(ServerError(code: code, constraint: "c").meaning == meaning)
    }

    @Test("What is not known is refused, with the server's sentence")
    func refused() {
        let error = ServerError(code: "42P01", message: "relation \"x\" does not exist")
        #expect(error.meaning == .refused(error))
        #expect("\(ClusterError.refused(error))".hasSuffix("SQLSTATE 42P01: relation \"x\" does not exist."))
    }

    @Test("Sentences that quote values are left out", arguments: ["22P02", "23514"])
    func quotes(code: String) {
        let error = ServerError(code: code, constraint: "positive", message: "invalid input: \"secret\"")
        #expect("\(error)" == "SQLSTATE \(code), positive")
    }

    @Test("Only errors of the checks before a commit say that nothing was committed")
    func commits() {
        for code in ["23505", "40001", "22003"] { #expect(ServerError(code: code).precedesCommit) }
        for code in ["57P01", "08006", "XX000", "58030"] { #expect(!ServerError(code: code).precedesCommit) }
    }
}
