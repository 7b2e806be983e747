public import HTTPTypes

/// Decides whether a failed attempt is repeated, and after which pause. Only idempotent requests are (RFC 9110
/// §9.2.2).
public struct RetryPolicy: Sendable, Equatable {
    /// The outcome of one attempt.
    public enum Outcome: Sendable, Equatable {
        /// No response.
        case unreachable(UnreachableReason)
        /// A response with this status, and its `Retry-After` in seconds.
        case responded(HTTPResponse.Status, retryAfter: Int?)
        /// A response that broke off.
        case truncated
    }

    /// Attempts in all.
    public var attempts: Int
    /// First pause; it doubles with every attempt.
    public var firstPause: Duration

    /// Creates a policy; the defaults are two attempts, 100 ms apart.
    public init(attempts: Int = 2, firstPause: Duration = .milliseconds(100)) {
        self.attempts = attempts
        self.firstPause = firstPause
    }

    /// Returns the pause before the next attempt, nil if the outcome is final.
    ///
    /// After a broken connection the request is repeated at once, since the upstream may have closed a kept-alive one.
    /// After 502, 503 and 504 it is repeated after a pause with jitter, unless the response has a `Retry-After`, which
    /// is observed by not asking again. Refusals, time-outs and DNS failures are not repeated: the stored copy is
    /// better.
    public func pause(after outcome: Outcome, attempt: Int, method: HTTPRequest.Method, jitter: Double) -> Duration? {
        guard attempt < attempts, method.isIdempotent else { return nil }
        switch outcome {
        case .unreachable(let reason):
            return reason.isWorthAnotherTry ? .zero : nil
        case .truncated:
            return .zero
        case .responded(let status, let retryAfter):
            guard retryAfter == nil, [502, 503, 504].contains(status.code) else { return nil }
            return firstPause * Double(1 << (attempt - 1)) * (0.5 + jitter)
        }
    }
}
