import Foundation
import Screens
import Testing

@testable import Notes

@Suite("Attempts at logging in")
struct LoginAttemptsTests {
    private let start = Date(timeIntervalSince1970: 1_000_000)
    private let limits = LoginAttempts.Limits(perAccount: 3, perAddress: 5, window: .seconds(300))

    @Test("NOTE-01 Attempts come back one by one, at an even pace")
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

    @Test("NOTE-01 An address is limited over all names, others are not; a refused attempt costs nothing")
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

    @Test("NOTE-01 What was right does not count")
    func success() {
        var attempts = LoginAttempts(limits)
        for _ in 1...50 {
            #expect(attempts.begin(account: "a", address: "1.1.1.1", now: start) == .allowed)
            attempts.succeeded(account: "a", address: "1.1.1.1")
        }
    }

    @Test("NOTE-01 An attempt that was not checked does not count, and returns no more than it took")
    func abandoned() {
        var attempts = LoginAttempts(limits)
        for _ in 1...50 {
            #expect(attempts.begin(account: "a", address: "1.1.1.1", now: start) == .allowed)
            attempts.abandoned(account: "a", address: "1.1.1.1")
        }
        for _ in 1...3 { #expect(attempts.begin(account: "a", address: "1.1.1.1", now: start) == .allowed) }
        #expect(attempts.begin(account: "a", address: "1.1.1.1", now: start) == .refused(retryAfter: 100))
    }

    @Test("A clock that is set back neither adds nor removes attempts")
    func clockSetBack() {
        var attempts = LoginAttempts(limits)
        for _ in 1...3 { _ = attempts.begin(account: "a", address: nil, now: start) }
        #expect(attempts.begin(account: "a", address: nil, now: start - 1_000) == .refused(retryAfter: 100))
    }

    @Test("NOTE-01 Memory is bounded, and the emptiest buckets stay")
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

    @Test("TRUST-21 One client's wrong passwords lock out no other client, not even from the same account")
    func others() {
        var attempts = LoginAttempts(limits)
        while attempts.begin(account: "a", address: "1.1.1.1", now: start) == .allowed {}
        #expect(attempts.begin(account: "a", address: "2.2.2.2", now: start) == .allowed)
        #expect(attempts.begin(account: "b", address: "2.2.2.2", now: start) == .allowed)
    }

    @Test("NOTE-01 An account is limited over all addresses, too")
    func distributed() {
        var attempts = LoginAttempts(limits)
        let allowed = (0..<100).count { attempts.begin(account: "a", address: "1.1.1.\($0)", now: start) == .allowed }
        #expect(allowed == limits.perAccount * LoginAttempts.addressesPerAccount)
        #expect(attempts.begin(account: "b", address: "1.1.1.1", now: start) == .allowed)
    }
}
