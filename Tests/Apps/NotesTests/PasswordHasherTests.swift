import Testing

@testable import Notes

@Suite("Hashing passwords")
struct PasswordHasherTests {
    @Test("NOTE-01 An unknown account costs the same work as a known one, and is never right")
    func unknown() async throws {
        let hasher = PasswordHasher(cost: .scrypt(logarithm: 2))
        #expect(try await hasher.verify(try Password("x"), against: nil) == false)
        let hash = try await hasher.hash(try Password("x"))
        #expect(try await hasher.verify(try Password("x"), against: hash))
    }

    @Test("NOTE-01 More concurrent hashings than may wait are refused; later ones succeed")
    func overload() async throws {
        let hasher = PasswordHasher(cost: .scrypt(logarithm: 2), maximumWaiting: 3)
        let outcomes = await withTaskGroup(of: Bool?.self) { group in
            for _ in 1...200 { group.addTask { try? await hasher.verify(Password("x"), against: nil) } }
            return await group.reduce(into: [Bool?]()) { $0.append($1) }
        }
        #expect(outcomes.contains(false) && outcomes.count == 200)
        // The places are free again.
        #expect(try await hasher.verify(try Password("x"), against: nil) == false)
    }

    @Test("TRUST-18 A password whose client is gone when its turn comes is neither compared nor hashed")
    func cancelled() async throws {
        let hasher = PasswordHasher(cost: .scrypt(logarithm: 2))
        let registration = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await hasher.hash(Password("x"))
        }
        await #expect(throws: CancellationError.self) { try await registration.value }
        let comparison = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await hasher.verify(Password("x"), against: nil)
        }
        await #expect(throws: CancellationError.self) { try await comparison.value }
        #expect(try await hasher.verify(Password("x"), against: nil) == false)
    }
}

@Suite("Turns of addresses")
struct AddressQueuesTests {
    @Test("TRUST-21 Addresses take turns, however many elements one of them has")
    func queues() {
        var queues = AddressQueues<Int>(maximum: 100, maximumPerAddress: 50)
        for number in 0..<50 { #expect(queues.append(number, from: "storm") == true) }
        #expect(queues.append(100, from: "honest") == true)
        #expect(queues.append(101, from: nil) == true)
        let order = (0..<53).map { _ in queues.next() }
        #expect(order == [0, 100, 101] + (1..<50).map { $0 } + [nil])
    }

    @Test("TRUST-21 A full queue of one address refuses that address only; a full queue refuses all")
    func limits() {
        var queues = AddressQueues<Int>(maximum: 5, maximumPerAddress: 3)
        for number in 0..<3 { #expect(queues.append(number, from: "a") == true) }
        #expect(queues.append(3, from: "a") == false)
        #expect(queues.append(4, from: "b") == true)
        #expect(queues.append(5, from: "b") == true)
        #expect(queues.append(6, from: "c") == false)
        _ = queues.next()
        #expect(queues.append(7, from: "c") == true)
    }
}
