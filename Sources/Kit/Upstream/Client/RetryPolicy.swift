import HTTPTypes

/// Decides whether a failed attempt is repeated, and after which pause. Only idempotent requests are (RFC 9110
/// §9.2.2).
package struct RetryPolicy: Sendable, Equatable {
    /// The outcome of one attempt.
    enum Outcome: Sendable, Equatable {
        /// No response.
        case unreachable(UnreachableReason)
        /// A response with this status, and its `Retry-After` in seconds.
        case responded(HTTPResponse.Status, retryAfter: Int?)
        /// A response that broke off.
        case truncated
    }

    /// Attempts in all.
    var attempts: Int
    /// First pause; it doubles with every attempt.
    var firstPause: Duration

    /// Creates a policy; the defaults are two attempts, 100 ms apart.
    package init(attempts: Int = 2, firstPause: Duration = .milliseconds(100)) {
        self.attempts = attempts
        self.firstPause = firstPause
    }

    /// Returns the pause before the next attempt, nil if the outcome is final.
    ///
    /// After a broken connection the request is repeated at once, since the upstream may have closed a kept-alive one.
    /// After 502, 503 and 504 it is repeated after a pause with jitter, unless the response has a `Retry-After`, which
    /// is observed by not asking again. Refusals, time-outs and DNS failures are not repeated: the stored copy is
    /// better.
    func pause(after outcome: Outcome, attempt: Int, method: HTTPRequest.Method, jitter: Double) -> Duration? {
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

/// How ``UpstreamClient`` sends one request.
package struct ExchangeOptions: Sendable {
    /// Whether redirects of GET and HEAD are followed.
    var followsRedirects = true
    /// Whether `User-Agent` is added to a request without it.
    var namesUserAgent = true
    /// Which failed attempts are repeated; nil repeats none.
    var retries: RetryPolicy?
    /// Longest time for all attempts and redirects; nil for the configured `total_timeout_ms`.
    var timeout: Duration?
    /// Longest wait for the head of a response once a streamed request was sent; nil for `total_timeout_ms`.
    var responseTimeout: Duration?
    /// Longest time in which a body makes no progress because of the upstream; nil for `total_timeout_ms`.
    var stall: Duration?
    /// Whether the deadline of the client's request applies (``RequestScope``). It does not while a body is sent, which
    /// takes the time that the client takes.
    var sharesDeadline = true

    /// Options of a request of Larder's own whose bodies pass in parts: redirects are followed, nothing is repeated.
    ///
    /// - Parameters:
    ///   - headTimeout: Longest wait for the response's head; nil for `total_timeout_ms`.
    ///   - responseTimeout: Longest part of it after the request was sent; nil for `total_timeout_ms`.
    static func streaming(headTimeout: Duration?, responseTimeout: Duration?) -> ExchangeOptions {
        ExchangeOptions(
            timeout: headTimeout,
            responseTimeout: responseTimeout,
            stall: responseTimeout == nil ? nil : uploadStall
        )
    }

    /// The kernel says that a socket takes more once a third of its buffer is free, which may have 4 MiB: an uploader
    /// that takes 128 KiB a second seems to stall for 10 seconds.
    private static let uploadStall = Duration.seconds(60)

    /// Options of a client's request that is forwarded unchanged: neither redirected nor repeated, and without fields
    /// that the client did not send.
    ///
    /// - Parameter headTimeout: Longest wait for the response's head; nil for `total_timeout_ms`.
    package static func forwarding(headTimeout: Duration? = nil) -> ExchangeOptions {
        ExchangeOptions(followsRedirects: false, namesUserAgent: false, timeout: headTimeout)
    }
}
