import NIOHTTP1

/// Limits of one client in the connection layer: sizes, counts and deadlines. Every value is configuration; the
/// defaults are the documented ones.
///
/// The size of a request body is a property of the route and is checked where the body is read.
package struct ConnectionLimits: Sendable, Equatable {
    /// Bytes of a whole request head, request line included; also the most bytes that may arrive without completing a
    /// head or adding to a body (chunk extensions, trailers, empty lines). Beyond it: 431 in a head, 400 in a body.
    /// Default 32 KiB.
    var headerBytes: Int
    /// Field lines in a head, trailers included. Beyond it: 431. Default 100.
    var headerCount: Int
    /// Bytes of the request target. Beyond it: 414. Default 8 KiB.
    var urlBytes: Int
    /// From the first byte of a head to its end; then 408. Default 10 s.
    var headDeadline: Duration
    /// How long a connection may stay open with no request under way and nothing left to send; closed silently. Default
    /// 60 s.
    var idleTimeout: Duration
    /// Whole request body, not counting time in which the server itself did not read; then 408. Default 60 s.
    var bodyDeadline: Duration
    /// Longest pause within a request body, counted likewise; then 408. Default 20 s.
    var bodyIdle: Duration
    /// How long a client may take no byte while bytes are waiting for it. Progress is looked at four times within this
    /// time, so a stalled client is closed after at most a quarter more. Default 30 s.
    var writeDeadline: Duration
    /// Connections open at once; enforced by the listener, not here. Default 1024.
    package var connections: Int
    /// Bytes read and thrown away after the last response of a connection, so that the client can read that response
    /// (RFC 9112 section 9.6). Default 64 KiB.
    var lingerBytes: Int
    /// How long that lasts. Default 2 s.
    var lingerTime: Duration

    /// The documented defaults.
    static let standard = ConnectionLimits()

    /// Limits; those not given have the documented defaults.
    package init(
        headerBytes: Int = 32 * 1024,
        headerCount: Int = 100,
        urlBytes: Int = 8 * 1024,
        headDeadline: Duration = .seconds(10),
        idleTimeout: Duration = .seconds(60),
        bodyDeadline: Duration = .seconds(60),
        bodyIdle: Duration = .seconds(20),
        writeDeadline: Duration = .seconds(30),
        connections: Int = 1024,
        lingerBytes: Int = 64 * 1024,
        lingerTime: Duration = .seconds(2)
    ) {
        self.headerBytes = headerBytes
        self.headerCount = headerCount
        self.urlBytes = urlBytes
        self.headDeadline = headDeadline
        self.idleTimeout = idleTimeout
        self.bodyDeadline = bodyDeadline
        self.bodyIdle = bodyIdle
        self.writeDeadline = writeDeadline
        self.connections = connections
        self.lingerBytes = lingerBytes
        self.lingerTime = lingerTime
    }
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
