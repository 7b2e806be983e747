import Synchronization
import TestKit
import Testing

@testable import SharedStore

/// What callers are told while their server, or its standby, is away: one test after the other, since they share it.
@Suite(.serialized) struct SharedDatabaseFaultTests {
    private static let server = Task { try await RunningPostgres.start() }

    @Test("Without a server, callers get an error that names the place; with it, the next one is served")
    func restarted() async throws {
        let server = try await Self.server.value
        let store = try await Store(on: server).withCounters()
        try await store.database.write { try $0.increment("a") }
        try server.stop("immediate")
        let error = await #expect(throws: SharedStoreError.self) { try await store.counters() }
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
        await #expect(throws: SharedStoreError.unavailable(.connectionLost)) {
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

    @Test("What was acknowledged before a crash under load is there after it, and callers go on by themselves")
    func crash() async throws {
        let server = try await Self.server.value
        let store = try await Store(on: server) { $0.connections = 4 }.withCounters()
        let acknowledged = Watched<[String]>([])
        let hasEnded = Watched(false)
        let writers = (0..<16).map { writer in
            Task {
                var number = 0
                while !hasEnded.value {
                    number += 1
                    let name = "\(writer)/\(number)"
                    // What fails meanwhile is not acknowledged, so nothing is said of it.
                    guard (try? await store.database.write(turns: [name], { try $0.increment(name) })) != nil else {
                        await Task.yield()
                        continue
                    }
                    acknowledged.update { $0.append(name) }
                }
            }
        }
        await acknowledged.until("writes before the crash") { $0.count >= 200 }
        try server.stop("immediate")
        let before = acknowledged.value.count
        try server.restart()
        await acknowledged.until("writes after the crash") { $0.count >= before + 200 }
        hasEnded.update { $0 = true }
        for writer in writers { await writer.value }
        let kept = try await store.counters()
        #expect(acknowledged.value.filter { kept[$0] != 1 } == [])
        #expect(kept.values.allSatisfy { $0 == 1 })
    }

    /// Has the server wait with each commit for a standby that does not exist, or no longer.
    private func require(standby: String, on store: Store) async throws {
        let connection = try PostgresConnection.open(store.options)
        connection.deadline = Deadline(after: .seconds(60))
        try connection.run("ALTER SYSTEM SET synchronous_standby_names = '\(standby)'")
        try connection.run("SELECT pg_reload_conf()")
        try await BoundedWait.poll(for: "the setting") {
            let rows = try await store.other().rows("SELECT current_setting('synchronous_standby_names') AS names") {
                try $0.value("names") as String
            }
            return rows == [standby]
        }
    }

    /// Changes a counter on a server whose standby is away, and does something to the commit that waits for it.
    private func unconfirmed(_ interrupt: String?, timeout: Duration) async throws -> (SharedStoreError?, [String: Int])
    {
        let store = try await Store(on: Self.server.value).withCounters()
        try await require(standby: "away", on: store)
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
        let error = #expect(throws: SharedStoreError.self) { try result.get() }
        try await require(standby: "", on: store)
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
