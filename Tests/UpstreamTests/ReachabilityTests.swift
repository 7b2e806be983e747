import Foundation
import HTTPTypes
import Storage
import TestKit
import Testing

@testable import Upstream

struct ReachabilityTests {
    private let noon = Date(timeIntervalSince1970: 1_767_700_000)
    private var reachability = Reachability(probeInterval: .seconds(5))

    @Test("An upstream that was never requested counts as reachable, without a time")
    func untried() {
        #expect(
            reachability.isReachable && reachability.since == nil && reachability.lastOK == nil
                && reachability.lastError == nil
        )
    }

    @Test("It is down after the first failure and up after the first response")
    mutating func downAndUp() {
        #expect(reachability.unreachable(.refused, at: noon, jitter: 0.5) == .wentDown(probeAfter: .seconds(5)))
        #expect(!reachability.isReachable && reachability.since == noon)
        #expect(reachability.lastError == .init(reason: "refused", at: noon))
        #expect(
            reachability.unreachable(.nameResolution, at: noon + 5, jitter: 0.5) == .stillDown(probeAfter: .seconds(10))
        )
        #expect(reachability.since == noon && reachability.failures == 2)
        #expect(reachability.responded(at: noon + 9) == .cameBack)
        #expect(
            reachability.isReachable && reachability.since == noon + 9 && reachability.lastOK == noon + 9
                && reachability.failures == 0
        )
        #expect(reachability.lastError?.reason == "dns", "the last error is remembered")
        #expect(reachability.responded(at: noon + 10) == .unchanged)
        #expect(reachability.since == noon + 9)
    }

    @Test("An error status is a response")
    mutating func failed() {
        _ = reachability.unreachable(.reset, at: noon, jitter: 0)
        #expect(reachability.failed("status 500", at: noon + 1) == .cameBack)
        #expect(reachability.isReachable && reachability.lastOK == noon + 1)
        #expect(reachability.lastError == .init(reason: "status 500", at: noon + 1))
    }

    @Test("WEB-37 An upstream fails until its next response, even one of the same instant")
    mutating func failing() throws {
        #expect(!reachability.isFailing)
        _ = reachability.failed("status 503", at: noon)
        #expect(reachability.isFailing)
        _ = reachability.responded(at: noon)
        #expect(!reachability.isFailing && reachability.lastError?.reason == "status 503")
        _ = reachability.unreachable(.reset, at: noon, jitter: 0)
        #expect(reachability.isFailing)
        _ = reachability.responded(at: noon)
        #expect(!reachability.isFailing)
        // One account has too many requests, or a full disk.
        let credential = try SealedSecrets(Scenario().database).credentialHasher().hash("anna")
        for status: HTTPResponse.Status in [.tooManyRequests, .init(code: 507)] {
            _ = reachability.failed("status \(status.code)", status: status, credential: credential, at: noon)
            #expect(!reachability.isFailing)
            _ = reachability.failed("status \(status.code)", status: status, at: noon)
            #expect(reachability.isFailing)
        }
    }

    @Test("Pauses double up to a minute, and start again after a response")
    mutating func growingPauses() {
        var pauses: [Duration] = []
        for attempt in 1...40 {
            switch reachability.unreachable(.refused, at: noon + Double(attempt) * 60, jitter: 0.5) {
            case .wentDown(let pause), .stillDown(let pause): pauses.append(pause)
            case .cameBack, .unchanged: Issue.record("it is down")
            }
        }
        #expect(Array(pauses.prefix(6)) == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
        #expect(pauses.dropFirst(4).allSatisfy { $0 == Reachability.longestPause })
        _ = reachability.responded(at: noon)
        #expect(reachability.unreachable(.refused, at: noon, jitter: 0.5) == .wentDown(probeAfter: .seconds(5)))
    }

    @Test("Requests that fail together are one attempt, so they do not put off the next probe")
    mutating func together() {
        for request in 0..<24 {
            let transition = reachability.unreachable(.reset, at: noon + Double(request) * 0.1, jitter: 0)
            let expected = Duration.seconds(3.75)
            #expect(transition == (request == 0 ? .wentDown(probeAfter: expected) : .stillDown(probeAfter: expected)))
        }
        #expect(reachability.failures == 1)
        #expect(reachability.unreachable(.reset, at: noon + 3.75, jitter: 0) == .stillDown(probeAfter: .seconds(7.5)))
        // The clock was set back: nothing is known of how long it is.
        #expect(reachability.unreachable(.reset, at: noon - 60, jitter: 0) == .stillDown(probeAfter: .seconds(15)))
    }

    @Test("Jitter spreads a pause by a quarter to both sides", arguments: [(0.0, 3.75), (0.5, 5), (1, 6.25)])
    mutating func jitter(jitter: Double, seconds: Double) {
        #expect(
            reachability.unreachable(.refused, at: noon, jitter: jitter) == .wentDown(probeAfter: .seconds(seconds))
        )
    }

    @Test("An interval above a minute is kept")
    func longInterval() {
        var patient = Reachability(probeInterval: .seconds(300))
        #expect(patient.unreachable(.refused, at: noon, jitter: 0.5) == .wentDown(probeAfter: .seconds(300)))
        #expect(patient.unreachable(.refused, at: noon, jitter: 0.5) == .stillDown(probeAfter: .seconds(300)))
    }

    @Test(
        "Retry-After of a 429 or 503 is a pause of at most five minutes, which any success ends",
        arguments: [HTTPResponse.Status.tooManyRequests, .serviceUnavailable]
    )
    mutating func retryAfter(status: HTTPResponse.Status) {
        _ = reachability.failed("status", status: status, retryAfter: 30, at: noon)
        #expect(reachability.pause(at: noon) == Reachability.Pause(status: status, end: noon + 30))
        #expect(reachability.pause(at: noon + 29.5)?.seconds(at: noon + 29.5) == 1)
        #expect(reachability.pause(at: noon + 30) == nil)
        _ = reachability.failed("status 500", status: .internalServerError, at: noon + 1)
        #expect(reachability.pause(at: noon + 1) != nil)
        _ = reachability.responded(at: noon + 2)
        #expect(reachability.pause(at: noon + 2) == nil)
        _ = reachability.failed("status", status: status, retryAfter: .max, at: noon)
        #expect(reachability.pause(at: noon)?.seconds(at: noon) == 300)
        #expect(reachability.pause(at: noon - 86_400) == nil, "a clock that is set back prolongs no pause")
    }

    @Test("A 429 pauses its credential, a 503 all; a success ends the pause of its own and of all")
    mutating func pausesByCredential() throws {
        let hasher = try SealedSecrets(Scenario().database).credentialHasher()
        let (anna, boris) = (hasher.hash("anna"), hasher.hash("boris"))
        _ = reachability.failed("429", status: .tooManyRequests, retryAfter: 30, credential: anna, at: noon)
        #expect(reachability.pause(for: anna, at: noon) != nil && reachability.pause(for: boris, at: noon) == nil)
        #expect(reachability.pause(at: noon) == nil)
        _ = reachability.responded(credential: boris, at: noon)
        #expect(reachability.pause(for: anna, at: noon) != nil)
        _ = reachability.failed("503", status: .serviceUnavailable, retryAfter: 60, credential: anna, at: noon)
        #expect(reachability.pause(for: boris, at: noon)?.status == .serviceUnavailable)
        _ = reachability.responded(credential: boris, at: noon)
        #expect(reachability.pause(for: boris, at: noon) == nil)
        #expect(reachability.pause(for: anna, at: noon)?.status == .tooManyRequests)
        _ = reachability.responded(credential: anna, at: noon)
        #expect(reachability.pause(for: anna, at: noon) == nil)
    }

    @Test("Zero, a missing Retry-After and that of other statuses are no pause")
    mutating func noPause() {
        _ = reachability.failed("status", status: .serviceUnavailable, retryAfter: 0, at: noon)
        _ = reachability.failed("status", status: .serviceUnavailable, at: noon)
        _ = reachability.failed("status", status: .internalServerError, retryAfter: 30, at: noon)
        #expect(reachability.pause(at: noon) == nil)
    }
}
