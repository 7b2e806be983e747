package import Foundation
package import HTTPTypes

/// The settings `upstreams.{name}.*` of one upstream.
package struct UpstreamConfiguration: Sendable, Equatable {
    /// Its name in settings, `/v1/status` and problems, such as `spacex`.
    package var name: String
    /// Its name for people, such as `SpaceX`.
    package var title: String
    /// Base URL of its API, without a trailing slash.
    package var baseURL: URL
    /// Longest wait for a connection.
    package var connectTimeout = Duration.milliseconds(3000)
    /// Longest wait for a whole response, retries included.
    package var totalTimeout = Duration.milliseconds(8000)
    /// How long a client waits before it gets the stored copy instead.
    package var patience = Duration.milliseconds(2000)
    /// First pause between probes of an unreachable upstream; later pauses grow.
    package var probeInterval = Duration.milliseconds(5000)
    /// Hosts other than the base URL's to which its links and redirects may point.
    package var allowedHosts: [String] = []
    /// Whether links and redirects may also lead to any public host by http or https at its usual port: for upstreams
    /// whose data names arbitrary hosts.
    package var followsPublicLinks = false
    /// Hosts other than the base URL's that the operator trusts as much: links and redirects may point to them whatever
    /// their address.
    package var trustedHosts: [String] = []
    /// Largest body accepted, in bytes.
    package var maximumResponseBytes = 16 << 20
    /// Whether Larder logs in there for its accounts.
    package var hasSessions = false
    /// Whether the API limits requests by account, so that a 429 is about one account only.
    package var limitsByCredential = false
    /// Path that the probe asks for, below the base URL.
    package var probePath = "/"
    /// How its API is mounted.
    package var mount = MountOptions()
    /// Whether the sandbox of this server simulates it.
    package var isSimulated = false
}

extension UpstreamConfiguration {
    /// Creates a configuration with the defaults of the settings.
    package init(name: String, title: String, baseURL: URL) {
        self.init(name: name, title: title, baseURL: baseURL, isSimulated: false)
    }

    /// Returns the absolute URL of a path, and query, below the base URL.
    package func url(of path: String) -> String {
        baseURL.absoluteString + path
    }
}

/// A request field that a mount forwards because its operator names it.
package struct RequestField: Sendable, Equatable {
    package var name: HTTPField.Name
    /// Whether responses are stored by its value, as if their `Vary` named it: no client then gets a response that
    /// another one's field has shaped.
    package var isKey: Bool

    package init(_ name: HTTPField.Name, isKey: Bool = true) {
        self.name = name
        self.isKey = isKey
    }

    /// Names of fields that the connection to the upstream has of its own.
    private static let ofTheConnection: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "larder-exchange", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Reads a field as the setting has it: a name, or a name followed by `:unkeyed`.
    package init?(setting text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = HTTPField.Name(String(parts[0])), !Self.ofTheConnection.contains(name.canonicalName),
            parts.count == 1 || parts[1] == "unkeyed"
        else { return nil }
        self.init(name, isKey: parts.count == 1)
    }
}

/// How an upstream's own API is mounted below `/v1/upstreams/{name}/`. Settings
/// `upstreams.{name}.{shared,methods,request_fields,last_good,heuristics}`. By default it is shared and read-only.
package struct MountOptions: Sendable, Equatable {
    /// Whether responses are shared by all clients. If not, `Authorization` and `Cookie` are forwarded, and everything
    /// is stored per credential.
    package var shared = true
    package var methods: [HTTPRequest.Method] = [.get, .head, .options]
    /// Request fields that are forwarded besides those of HTTP itself.
    package var requestFields: [RequestField] = []
    /// Whether the last good response is served, whatever its age, if the upstream fails and the response does not
    /// forbid it (RFC 9111 §4.2.4).
    package var lastGood = true
    /// Whether lifetimes are derived from `Last-Modified` if a response gives none (RFC 9111 §4.2.2).
    package var heuristics = false
    /// Largest body that is stored, in bytes; larger ones are only forwarded.
    package var maximumStoredBytes = 128 << 20
    /// Whether links in its JSON are rewritten to the mount. False for a mount that is shared.
    package var leadsBack = false
}

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

    /// Linux reports that a socket takes more only when a third of its buffer is free, and a buffer may have 4 MiB. So
    /// a host that takes 128 KiB a second seems to stall for 10 seconds.
    private static let uploadStall = Duration.seconds(60)

    /// Options of a client's request that is forwarded unchanged: neither redirected nor repeated, and without fields
    /// that the client did not send.
    ///
    /// - Parameter headTimeout: Longest wait for the response's head; nil for `total_timeout_ms`.
    package static func forwarding(headTimeout: Duration? = nil) -> ExchangeOptions {
        ExchangeOptions(followsRedirects: false, namesUserAgent: false, timeout: headTimeout)
    }
}
