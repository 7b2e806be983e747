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

    /// Options of a client's request that is forwarded as it is: neither redirected nor repeated, and without fields
    /// that the client did not send.
    ///
    /// - Parameter headTimeout: Longest wait for the response's head; nil for `total_timeout_ms`.
    package static func forwarding(headTimeout: Duration? = nil) -> ExchangeOptions {
        ExchangeOptions(followsRedirects: false, namesUserAgent: false, timeout: headTimeout)
    }
}
