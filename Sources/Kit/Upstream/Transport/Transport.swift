package import Concurrency
package import HTTPTypes
import NIOCore
package import Storage
import Synchronization

/// A request with a body in memory.
package struct OutgoingRequest: Sendable, Equatable {
    package var method: HTTPRequest.Method
    /// Absolute URL.
    package var url: String
    /// Header fields; `Host` and framing fields are added by the transport.
    package var headerFields: HTTPFields
    package var body: [UInt8]?
    /// Whether it must not be sent again after a failure, although its method is idempotent. If an API responds
    /// differently to the second of two equal requests (`DELETE`: 404), a retry hides the effect of the first one.
    var isSentOnce: Bool
    /// The account for which it is sent: an API that limits requests by account pauses this one only.
    var credential: CredentialHash?
    /// Whether it is for a picture (``Resource/isPicture``).
    var isPicture: Bool

    package init(
        method: HTTPRequest.Method = .get,
        url: String,
        headerFields: HTTPFields = [:],
        body: [UInt8]? = nil,
        isSentOnce: Bool = false,
        credential: CredentialHash? = nil,
        isPicture: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.body = body
        self.isSentOnce = isSentOnce
        self.credential = credential
        self.isPicture = isPicture
    }
}

/// A whole response.
package struct IncomingResponse: Sendable, Equatable {
    package var status: HTTPResponse.Status
    /// Header fields as received.
    package var headerFields: HTTPFields
    package var body: [UInt8]

    package init(status: HTTPResponse.Status, headerFields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }
}

/// The limits of one attempt.
package struct TransportLimits: Sendable, Equatable {
    /// Longest wait for the whole response.
    var total: Duration
    /// Largest body, in bytes.
    var maximumBytes: Int
    /// Whether only public addresses may be connected to, as for hosts other than the configured upstream.
    var publicAddressesOnly: Bool
    /// Longest time in which a streamed body makes no progress because of the upstream.
    var stall: Duration
    /// Longest wait for the head of the response once a streamed request was sent.
    var response: Duration

    /// Creates limits for one attempt.
    ///
    /// - Parameters:
    ///   - stall: Longest time without progress; nil for `total`.
    ///   - response: Longest wait for the head of the response; nil for `stall`.
    package init(
        total: Duration,
        maximumBytes: Int,
        publicAddressesOnly: Bool,
        stall: Duration? = nil,
        response: Duration? = nil
    ) {
        self.total = total
        self.maximumBytes = maximumBytes
        self.publicAddressesOnly = publicAddressesOnly
        self.stall = stall ?? total
        self.response = response ?? self.stall
    }
}

/// Sends one request and returns its response; redirects, retries and storing are left to others.
package protocol Transport: Sendable {
    /// Sends a request and receives the whole response.
    ///
    /// - Returns: The response, whatever its status.
    /// - Throws: ``UpstreamError/unreachable(_:)``, ``UpstreamError/badResponse(status:reason:)`` or
    ///   ``UpstreamError/forbiddenTarget(_:)``.
    func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse

    /// Sends a request with bodies in parts. Each body passes as fast as it is read. `TransportLimits.total` ends with
    /// the response's head, `TransportLimits.stall` applies to both bodies, `TransportLimits.response` to the time
    /// between them; their size is not limited.
    ///
    /// - Returns: The head of the response, whatever its status, with its body.
    /// - Throws: ``UpstreamError/unreachable(_:)``, ``UpstreamError/badResponse(status:reason:)`` or
    ///   ``UpstreamError/forbiddenTarget(_:)``.
    func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> StreamedResponse
}

/// The properties of a request that ``UpstreamClient`` reads and changes, whatever its body.
protocol OutgoingMessage: Sendable {
    var method: HTTPRequest.Method { get }
    var url: String { get set }
    var headerFields: HTTPFields { get set }
    /// The account for which it is sent, if the API limits requests by account.
    var credential: CredentialHash? { get }
    /// Whether it is for a picture, whose failures say nothing of the API.
    var isPicture: Bool { get }
}

/// The properties of a response that ``UpstreamClient`` reads, whatever its body.
protocol IncomingMessage: Sendable {
    var status: HTTPResponse.Status { get }
    var headerFields: HTTPFields { get }
}

extension IncomingMessage {
    /// Status line and header fields.
    var head: HTTPResponse { HTTPResponse(status: status, headerFields: headerFields) }
}

extension OutgoingRequest: OutgoingMessage {}
extension StreamedRequest: OutgoingMessage {
    var isPicture: Bool { false }
}
extension IncomingResponse: IncomingMessage {}
extension StreamedResponse: IncomingMessage {}

/// A request whose body is sent in parts.
package struct StreamedRequest: Sendable {
    package var method: HTTPRequest.Method
    /// Absolute URL.
    package var url: String
    /// Header fields; `Host` and framing fields are added by the transport.
    package var headerFields: HTTPFields
    package var body: ByteStream?
    /// Length of the body in bytes, if it is known.
    var bodyLength: Int?
    /// The account for which it is sent: an API that limits requests by account pauses this one only.
    var credential: CredentialHash?
    /// Is called, before the response is there, for each of its interim responses (RFC 9110 §15.2) but
    /// `100 Continue`; a transport may leave them out.
    var interim: (@Sendable (HTTPResponse) -> Void)?

    package init(
        method: HTTPRequest.Method,
        url: String,
        headerFields: HTTPFields,
        body: ByteStream? = nil,
        bodyLength: Int? = nil,
        credential: CredentialHash? = nil,
        interim: (@Sendable (HTTPResponse) -> Void)? = nil
    ) {
        self.interim = interim
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.body = body
        self.bodyLength = bodyLength
        self.credential = credential
    }
}

/// A response of which the head has arrived.
package struct StreamedResponse: Sendable {
    package var status: HTTPResponse.Status
    /// Header fields as received.
    package var headerFields: HTTPFields
    /// The body as it arrives; can be read once. Its end before the announced length is an error.
    package var body: ByteStream

    package init(status: HTTPResponse.Status, headerFields: HTTPFields, body: ByteStream) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }
}

extension Transport {
    /// Sends both bodies in one part, within the limits of a whole exchange: for transports that know nothing else.
    package func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> StreamedResponse
    {
        var body: [UInt8]?
        do {
            body = try await request.body?.collect(upTo: limits.maximumBytes).readableBytesView.map { $0 }
        } catch {
            throw .badResponse(status: nil, reason: UpstreamError.requestCutShort)
        }
        let whole = OutgoingRequest(
            method: request.method,
            url: request.url,
            headerFields: request.headerFields,
            body: body
        )
        let response = try await exchange(whole, within: limits)
        return StreamedResponse(
            status: response.status,
            headerFields: response.headerFields,
            body: ByteStream(ByteBuffer(bytes: response.body))
        )
    }
}

extension UpstreamError {
    /// The reason if the client did not finish the body that was being sent: nothing that the upstream did.
    static let requestCutShort = "the body of the request was truncated"

    /// Whether the client's own body broke off while it was sent.
    var isRequestCutShort: Bool { self == .badResponse(status: nil, reason: Self.requestCutShort) }
}

/// Who gets the interim responses (RFC 9110 §15.2) of the requests under way: async-http-client drops them.
///
/// A request names its listener by a number (``GuardedRequest``), since only its head is passed to its connection.
final class InterimListeners: Sendable {
    /// Is called on the event loop of the connection.
    typealias Listener = @Sendable (HTTPResponse) -> Void

    private let state = Mutex((last: 0, listeners: [Int: Listener]()))

    /// Adds a listener, and returns its number.
    func add(_ listener: @escaping Listener) -> Int {
        state.withLock { state in
            state.last += 1
            state.listeners[state.last] = listener
            return state.last
        }
    }

    func remove(_ number: Int) {
        _ = state.withLock { $0.listeners.removeValue(forKey: number) }
    }

    subscript(_ number: Int) -> Listener? { state.withLock { $0.listeners[number] } }
}
