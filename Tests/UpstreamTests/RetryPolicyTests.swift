import HTTPTypes
import NIOCore
import Testing

@testable import Upstream

struct RetryPolicyTests {
    private let policy = RetryPolicy(attempts: 3, firstPause: .milliseconds(100))

    private func pause(
        _ outcome: RetryPolicy.Outcome,
        attempt: Int = 1,
        method: HTTPRequest.Method = .get,
        jitter: Double = 0.5
    ) -> Duration? {
        policy.pause(after: outcome, attempt: attempt, method: method, jitter: jitter)
    }

    @Test("A broken connection and a truncated response are retried at once")
    func broken() {
        #expect(pause(.unreachable(.reset)) == .zero)
        #expect(pause(.truncated) == .zero)
    }

    @Test(
        "What will not be different in a moment is not tried again",
        arguments: UnreachableReason.allCases.filter { $0 != .reset }
    )
    func hopeless(reason: UnreachableReason) {
        #expect(pause(.unreachable(reason)) == nil)
    }

    @Test("502, 503 and 504 are tried again after growing pauses with jitter", arguments: [502, 503, 504])
    func gatewayTrouble(status: Int) {
        let outcome = RetryPolicy.Outcome.responded(.init(code: status), retryAfter: nil)
        #expect(pause(outcome) == .milliseconds(100))
        #expect(pause(outcome, attempt: 2) == .milliseconds(200))
        #expect(pause(outcome, jitter: 0) == .milliseconds(50))
        #expect(pause(outcome, jitter: 0.999).map { $0 < .milliseconds(150) } == true)
    }

    @Test("Retry-After is honoured by not asking again, be it zero", arguments: [0, 1, 3600])
    func retryAfter(seconds: Int) {
        #expect(pause(.responded(.serviceUnavailable, retryAfter: seconds)) == nil)
    }

    @Test("Other statuses stand", arguments: [200, 304, 400, 401, 404, 408, 429, 500, 501, 507])
    func otherStatuses(status: Int) {
        #expect(pause(.responded(.init(code: status), retryAfter: nil)) == nil)
    }

    @Test("The last attempt is the last")
    func attempts() {
        #expect(pause(.unreachable(.reset), attempt: 2) == .zero)
        #expect(pause(.unreachable(.reset), attempt: 3) == nil)
        #expect(RetryPolicy(attempts: 1).pause(after: .truncated, attempt: 1, method: .get, jitter: 0) == nil)
    }

    @Test("Only idempotent methods are repeated", arguments: [HTTPRequest.Method.post, .patch, .connect])
    func methods(method: HTTPRequest.Method) {
        #expect(pause(.unreachable(.reset), method: method) == nil)
        #expect(pause(.responded(.serviceUnavailable, retryAfter: nil), method: method) == nil)
    }

    @Test("Idempotent methods are", arguments: [HTTPRequest.Method.get, .head, .options, .put, .delete, .trace])
    func idempotent(method: HTTPRequest.Method) {
        #expect(pause(.unreachable(.reset), method: method) == .zero)
    }
}

/// TRUST-13 The time in which an upstream is waited for, as a value.
struct StallTimerTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private var timer = StallTimer(limit: .seconds(8), response: .seconds(3600))

    @Test("A request body counts only while the connection takes no more of it")
    mutating func sending() {
        timer.wrote(isWritable: true, at: start)
        #expect(timer.deadline == nil)
        timer.writabilityChanged(false, at: start + .seconds(100))
        #expect(timer.deadline == start + .seconds(108))
        timer.writabilityChanged(true, at: start + .seconds(101))
        #expect(timer.deadline == nil)
        timer.wroteEnd(at: start + .seconds(200))
        #expect(timer.deadline == start + .seconds(3800), "DISK-40 the response has a limit of its own")
    }

    @Test("A response counts only while it is asked for, and its parts add up")
    mutating func receiving() {
        timer.wrote(isWritable: true, at: start)
        timer.wroteEnd(at: start)
        timer.received(0, at: start + .seconds(1))
        #expect(timer.deadline == nil)
        timer.asked(at: start + .seconds(100))
        #expect(timer.deadline == start + .seconds(108))
        timer.received(1, at: start + .seconds(107))
        timer.asked(at: start + .seconds(200))
        #expect(timer.deadline == start + .seconds(201), "one byte in seven seconds does not buy eight more")
        timer.ended()
        #expect(timer.deadline == nil)
    }

    @Test("Each 16 KiB buy a second, so that a large body has the time that it takes")
    mutating func size() {
        timer.received(0, at: start)
        var now = start
        for _ in 0..<100 {
            timer.asked(at: now)
            #expect(timer.deadline == now + .seconds(8))
            now = now + .seconds(7)
            timer.received(7 * StallTimer.bytesPerSecond, at: now)
        }
    }

    @Test("TRUST-13 A body that stalls ends after the limit, however much of it has arrived")
    mutating func stalled() {
        timer.received(0, at: start)
        timer.asked(at: start)
        timer.received(64 << 20, at: start + .seconds(1))
        timer.asked(at: start + .seconds(10))
        #expect(timer.deadline == start + .seconds(18))
    }

    @Test("A response that begins before its request has ended is timed as a response")
    mutating func early() {
        timer.wrote(isWritable: false, at: start)
        timer.received(0, at: start + .seconds(1))
        timer.wrote(isWritable: false, at: start + .seconds(2))
        timer.wroteEnd(at: start + .seconds(3))
        #expect(timer.deadline == nil)
    }
}
