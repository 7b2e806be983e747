import Testing

@testable import Cluster

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
            #expect(throws: ClusterError.unavailable(.tooManyWaiting)) { try refusal?.get() }
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
        await #expect(throws: ClusterError.unavailable(.timedOut)) {
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
        await #expect(throws: ClusterError.closed) { try await store.database.read { _ in } }
    }
}
