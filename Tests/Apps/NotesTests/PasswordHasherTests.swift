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
