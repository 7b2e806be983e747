import Foundation
import Testing

@testable import Notes

@Suite("Attempts at logging in")
struct LoginAttemptsTests {
    private let start = Date(timeIntervalSince1970: 1_000_000)
    private let limits = LoginAttempts.Limits(perAccount: 3, perAddress: 5, window: .seconds(300))

    @Test("NOTE-01 attempts come back one by one, at an even pace")
    func pace() {
        var attempts = LoginAttempts(limits)
        for _ in 1...3 { #expect(attempts.begin(account: "a", address: nil, now: start) == .allowed) }
        #expect(attempts.begin(account: "a", address: nil, now: start) == .refused(retryAfter: 100))
        #expect(attempts.begin(account: "a", address: nil, now: start + 99.5) == .refused(retryAfter: 1))
        #expect(attempts.begin(account: "a", address: nil, now: start + 100) == .allowed)
        #expect(attempts.begin(account: "a", address: nil, now: start + 100) == .refused(retryAfter: 100))
        for _ in 1...3 { #expect(attempts.begin(account: "a", address: nil, now: start + 10_000) == .allowed) }
        #expect(attempts.begin(account: "a", address: nil, now: start + 10_000) != .allowed)
    }

    @Test("NOTE-01 an address is limited over all names, other addresses are not, and a refused attempt takes nothing")
    func addresses() {
        var attempts = LoginAttempts(limits)
        for name in ["a", "b", "c", "d", "e"] {
            #expect(attempts.begin(account: name, address: "1.1.1.1", now: start) == .allowed)
        }
        for _ in 1...10 {
            #expect(attempts.begin(account: "f", address: "1.1.1.1", now: start) == .refused(retryAfter: 60))
        }
        for _ in 1...3 { #expect(attempts.begin(account: "f", address: "2.2.2.2", now: start) == .allowed) }
        #expect(attempts.begin(account: "f", address: "2.2.2.2", now: start) == .refused(retryAfter: 100))
    }

    @Test("NOTE-01 what was right does not count")
    func success() {
        var attempts = LoginAttempts(limits)
        for _ in 1...50 {
            #expect(attempts.begin(account: "a", address: "1.1.1.1", now: start) == .allowed)
            attempts.succeeded(account: "a", address: "1.1.1.1")
        }
    }

    @Test("NOTE-01 what nobody looked at does not count either, and gives back no more than it took")
    func abandoned() {
        var attempts = LoginAttempts(limits)
        for _ in 1...50 {
            #expect(attempts.begin(account: "a", address: "1.1.1.1", now: start) == .allowed)
            attempts.abandoned(account: "a", address: "1.1.1.1")
        }
        for _ in 1...3 { #expect(attempts.begin(account: "a", address: "1.1.1.1", now: start) == .allowed) }
        #expect(attempts.begin(account: "a", address: "1.1.1.1", now: start) == .refused(retryAfter: 100))
    }

    @Test("a clock that is set back neither gives nor takes")
    func clockSetBack() {
        var attempts = LoginAttempts(limits)
        for _ in 1...3 { _ = attempts.begin(account: "a", address: nil, now: start) }
        #expect(attempts.begin(account: "a", address: nil, now: start - 1_000) == .refused(retryAfter: 100))
    }

    @Test("NOTE-01 memory is bounded, and who made it full stays limited")
    func flood() {
        var attempts = LoginAttempts(limits)
        for _ in 1...3 { _ = attempts.begin(account: "victim", address: nil, now: start) }
        var refused = 0
        for number in 0..<LoginAttempts.mostBuckets + 10 {
            if attempts.begin(account: "n\(number)", address: "1.1.1.1", now: start) != .allowed { refused += 1 }
        }
        #expect(refused == LoginAttempts.mostBuckets + 5)
        #expect(attempts.begin(account: "victim", address: nil, now: start) != .allowed)
        for number in 0..<LoginAttempts.mostBuckets + 10 {
            _ = attempts.begin(account: "m\(number)", address: nil, now: start)
        }
        #expect(
            attempts.begin(account: "victim", address: nil, now: start) != .allowed,
            "the emptiest buckets are remembered longest"
        )
    }
}

@Suite("Passwords")
struct PasswordTests {
    @Test("NOTE-01 scrypt is that of RFC 7914 §12")
    func vector() throws {
        let hash = try PasswordHash(
            of: try Password("pleaseletmein"),
            cost: .init(rounds: 16_384, blockSize: 8, parallelism: 1),
            salt: Data("SodiumChloride".utf8)
        )
        let hex = hash.digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hex == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")
        #expect(try hash.matches(try Password("pleaseletmein")))
        #expect(try !hash.matches(try Password("pleaseletmeiN")))
    }

    @Test("NOTE-01 the default cost is the one that is documented: 32 MiB, three runs")
    func standard() {
        let cost = PasswordHash.Cost.scrypt(logarithm: NotesApp.Options().scryptLogarithm)
        #expect(128 * cost.blockSize * cost.rounds == 32 << 20 && cost.parallelism == 3)
    }

    @Test("NOTE-01 an unknown account costs the same work as a known one, and is never right")
    func unknown() async throws {
        let hasher = PasswordHasher(cost: .scrypt(logarithm: 2))
        #expect(try await hasher.verify(try Password("x"), against: nil) == false)
        let hash = try await hasher.hash(try Password("x"))
        #expect(try await hasher.verify(try Password("x"), against: hash))
    }

    @Test("NOTE-01 more at once than can wait are turned away; nobody else is held up")
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

    @Test(
        "lengths and kinds of space",
        arguments: [
            ("a", true), ("", false), (String(repeating: "é", count: 512), true),
            (String(repeating: "é", count: 513), false),
        ]
    )
    func limits(text: String, isAccepted: Bool) {
        #expect(((try? Password(text)) != nil) == isAccepted)
    }

    @Test("a no-break space is a space, and nothing is trimmed")
    func spaces() throws {
        #expect(try Password("a\u{A0}b") == Password("a b"))
        #expect(try Password(" a") != Password("a"))
    }

    @Test("names: trimmed, bounded, without control characters")
    func names() throws {
        #expect(try UserName(" Bob\n").shown == "Bob")
        #expect(throws: UserName.Fault.tooShort) { try UserName(" \t") }
        #expect(throws: UserName.Fault.invalid) { try UserName("a\u{2028}b") }
        #expect(throws: UserName.Fault.invalid) { try UserName(String(repeating: "a", count: 257)) }
        #expect(try UserName("ÅNGSTRÖM").key == UserName("a\u{30A}ngstro\u{308}m").key)
    }
}
