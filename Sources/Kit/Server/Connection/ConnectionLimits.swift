import NIOHTTP1

/// Limits of one client in the connection layer: sizes, counts and deadlines. Every value is configuration; the
/// defaults are the documented ones.
///
/// The size of a request body is a property of the route and is checked where the body is read.
package struct ConnectionLimits: Sendable, Equatable {
    /// Bytes of a whole request head, request line included; also the most bytes that may arrive without completing a
    /// head or adding to a body (chunk extensions, trailers, empty lines). Beyond it: 431 in a head, 400 in a body.
    package var headerBytes = 32 * 1024
    /// Field lines in a head, trailers included. Beyond it: 431.
    var headerCount = 100
    /// Bytes of the request target. Beyond it: 414.
    package var urlBytes = 8 * 1024
    /// From the first byte of a head to its end; then 408.
    package var headDeadline: Duration = .seconds(10)
    /// How long a connection may stay open with no request under way and nothing left to send; closed silently.
    package var idleTimeout: Duration = .seconds(60)
    /// Whole request body, not counting time in which the server itself did not read; then 408.
    package var bodyDeadline: Duration = .seconds(60)
    /// Longest pause within a request body, counted likewise; then 408.
    var bodyIdle: Duration = .seconds(20)
    /// How long a client may take no byte while bytes are waiting for it. Progress is looked at four times within this
    /// time, so a stalled client is closed after at most a quarter more.
    package var writeDeadline: Duration = .seconds(30)
    /// Connections open at once; enforced by the listener, not here.
    package var connections = 1024
    /// Bytes read and thrown away after the last response of a connection, so that the client can read that response
    /// (RFC 9112 section 9.6).
    var lingerBytes = 64 * 1024
    /// How long that lasts.
    var lingerTime: Duration = .seconds(2)

    package static let standard = ConnectionLimits()
}

/// How the bytes of a connection arrive.
enum ConnectionSecurity {
    /// As they are, on a port without TLS.
    case clearText
    /// Through TLS.
    case tls
    /// As they are, on a port for TLS: every request is refused, or redirected if its host is served.
    case clearTextOnTLS(HostRules)

    /// The beginning of the URL of a request.
    var scheme: String {
        if case .tls = self { "https://" } else { "http://" }
    }

    /// Whether no request is served.
    var isRefused: Bool {
        if case .clearTextOnTLS = self { true } else { false }
    }

    /// Returns the refusal of a request that should have used TLS; nil if it is acceptable.
    func refusal(_ head: HTTPRequestHead) -> ConnectionRefusal? {
        guard case .clearTextOnTLS(let hosts) = self else { return nil }
        let names = head.headers["Host"]
        guard head.method == .GET || head.method == .HEAD, names.count == 1, HostField.isValid(names[0]),
            hosts.allows(names[0]), head.uri.utf8.first == UInt8(ascii: "/"),
            RequestTarget(uri: head.uri, isOptions: false) == .origin
        else { return .clearText }
        return .redirect(to: "https://\(names[0])\(head.uri)")
    }
}

/// Functions of the server that a connection calls, on the event loop: they must not block.
struct ConnectionReports: Sendable {
    /// Renders a refusal in the application's problem format.
    let problem: @Sendable (ConnectionRefusal, RefusedHead?) -> RefusalContent
    /// Is called for every refused request.
    let onRefusal: @Sendable (ConnectionRefusal) -> Void
    /// Is called for every connection that was closed without a whole response.
    let onAbruptClose: @Sendable (AbruptClose) -> Void
}
