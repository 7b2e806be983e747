import HTTPTypes
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
