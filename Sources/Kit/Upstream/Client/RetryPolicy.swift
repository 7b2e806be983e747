public import HTTPTypes

/// Whether a failed attempt is tried again, and after which pause. Only idempotent requests are (RFC 9110 §9.2.2).
public struct RetryPolicy: Sendable, Equatable {
    /// What one attempt came to.
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

    /// Two attempts, 100 ms apart, unless told otherwise.
    public init(attempts: Int = 2, firstPause: Duration = .milliseconds(100)) {
        self.attempts = attempts
        self.firstPause = firstPause
    }

    /// The pause before the next attempt, or nil when the outcome stands.
    ///
    /// A connection that broke is tried again at once, since a kept-alive one may have been closed under us. 502, 503
    /// and 504 are tried again after a pause with jitter, unless the upstream named a `Retry-After`: that is honoured
    /// by not asking again. Refusals, time-outs and DNS failures are not repeated: the stored copy is better.
    public func pause(after outcome: Outcome, attempt: Int, method: HTTPRequest.Method, jitter: Double) -> Duration? {
        guard attempt < attempts, Self.isIdempotent(method) else { return nil }
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

    /// Methods that may be repeated without harm (RFC 9110 §9.2.2).
    public static func isIdempotent(_ method: HTTPRequest.Method) -> Bool {
        [.get, .head, .options, .trace, .put, .delete].contains(method)
    }
}
