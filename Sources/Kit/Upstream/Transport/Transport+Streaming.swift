public import Concurrency
public import HTTPTypes
import NIOCore
public import ResponseStore

/// A request whose body is sent in parts.
public struct StreamedRequest: Sendable {
    /// Method.
    public var method: HTTPRequest.Method
    /// Absolute URL.
    public var url: String
    /// Header fields; `Host` and framing fields are added by the transport.
    public var headerFields: HTTPFields
    /// Body, if any.
    public var body: ByteStream?
    /// Length of the body in bytes, if it is known.
    public var bodyLength: Int?
    /// The account for which it is sent: an API that limits requests by account pauses this one only.
    public var credential: CredentialHash?
    /// Is called, before the response is there, for each of its interim responses (RFC 9110 §15.2) but
    /// `100 Continue`; a transport may leave them out.
    public var interim: (@Sendable (HTTPResponse) -> Void)?

    /// Creates a request.
    public init(
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
public struct StreamedResponse: Sendable {
    /// Status.
    public var status: HTTPResponse.Status
    /// Header fields as received.
    public var headerFields: HTTPFields
    /// The body as it arrives; can be read once. Its end before the announced length is an error.
    public var body: ByteStream

    /// Creates a response.
    public init(status: HTTPResponse.Status, headerFields: HTTPFields, body: ByteStream) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }
}

extension Transport {
    /// Sends both bodies in one part, within the limits of a whole exchange: for transports that know nothing else.
    ///
    /// - Throws: ``UpstreamError``.
    public func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
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
    public var isRequestCutShort: Bool { self == .badResponse(status: nil, reason: Self.requestCutShort) }
}
