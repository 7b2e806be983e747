import Synchronization
import TestKit
import Testing

@testable import SharedStore

@Suite struct ConnectionPoolTests {
    @Test("At most so many transactions run at a time, the next wait, and more are refused at once")
    func bounds() async throws {
        let store = try await Store {
            $0.connections = 2
            $0.maximumWaiting = 1
        }
        let gate = ThreadGate()
        await withTaskGroup(of: Result<Int, any Error>.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    await Task {
                        try await store.database.read { _ in
                            gate.hold()
                            return 1
                        }
                    }.result
                }
            }
            await gate.arrived(2)
            for _ in 0..<2 {
                group.addTask { await Task { try await store.database.read { _ in 2 } }.result }
            }
            // One of these two waits, the other has no place to wait. Nothing else ends before the gate is open.
            let refusal = await group.next()
            #expect(throws: SharedStoreError.unavailable(.tooManyWaiting)) { try refusal?.get() }
            gate.open()
            var results: [Int?] = []
            for await result in group { results.append(try? result.get()) }
            #expect(results.compactMap(\.self).sorted() == [1, 1, 2])
        }
    }

    @Test("A statement that takes too long is given up, and its connection is not used again")
    func late() async throws {
        let store = try await Store().withCounters()
        let hasty = store.other { $0.timeout = .milliseconds(300) }
        let gate = ThreadGate()
        async let holder: Void = store.database.write { transaction in
            try transaction.execute("LOCK TABLE counter")
            gate.hold()
        }
        await gate.arrived()
        await #expect(throws: SharedStoreError.unavailable(.timedOut)) {
            try await hasty.write { try $0.increment("a") }
        }
        gate.open()
        try await holder
        #expect(try await store.counters() == [:])
    }

    @Test("After the end, callers are told so")
    func closed() async throws {
        let store = try await Store()
        _ = try await store.database.rows("SELECT 1 AS one") { _ in }
        store.database.close()
        await #expect(throws: SharedStoreError.closed) { try await store.database.read { _ in } }
    }
}

/// What happens to callers while their server is away: one after the other, since they share it.
@Suite(.serialized) struct ConnectionPoolOutageTests {
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
}
