public import HTTPTypes

/// A request as it leaves.
public struct OutgoingRequest: Sendable, Equatable {
    /// Method.
    public var method: HTTPRequest.Method
    /// Absolute URL.
    public var url: String
    /// Header fields; `Host` and framing fields are added by the transport.
    public var headerFields: HTTPFields
    /// Body, if any.
    public var body: [UInt8]?
    /// Whether it must not be sent a second time after a failure, though its method is idempotent: to an API that
    /// answers the second of two
    /// equal requests otherwise than the first (`DELETE`: 404), a retry hides what the first one did.
    public var isSentOnce: Bool

    /// Creates a request.
    public init(
        method: HTTPRequest.Method = .get,
        url: String,
        headerFields: HTTPFields = [:],
        body: [UInt8]? = nil,
        isSentOnce: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.body = body
        self.isSentOnce = isSentOnce
    }
}

/// A whole response as it arrives.
public struct IncomingResponse: Sendable, Equatable {
    /// Status.
    public var status: HTTPResponse.Status
    /// Header fields as received.
    public var headerFields: HTTPFields
    /// The whole body.
    public var body: [UInt8]

    /// Creates a response.
    public init(status: HTTPResponse.Status, headerFields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }
}

/// What one attempt may take.
public struct TransportLimits: Sendable, Equatable {
    /// Longest wait for the whole response.
    public var total: Duration
    /// Largest body, in bytes.
    public var maximumBytes: Int
    /// The target is not the configured upstream itself: only public addresses may be connected to.
    public var publicAddressesOnly: Bool

    /// Creates limits for one attempt.
    public init(total: Duration, maximumBytes: Int, publicAddressesOnly: Bool) {
        self.total = total
        self.maximumBytes = maximumBytes
        self.publicAddressesOnly = publicAddressesOnly
    }
}

/// Sends one request and gives back one response; follows nothing, retries nothing, stores nothing.
///
/// - Throws: ``UpstreamError/unreachable(_:)``, ``UpstreamError/badResponse(status:reason:)`` or
///   ``UpstreamError/forbiddenTarget(_:)``.
public protocol Transport: Sendable {
    /// One exchange. Any status is a response, also 5xx.
    func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse

    /// The same with bodies in parts, both ways, as fast as they are taken. The time limit ends with the response's head;
    /// bodies have no limit of size.
    func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> StreamedResponse
}

/// The transport of a test that has not said which one it wants: every exchange fails, nothing reaches out.
public struct NoTransport: Transport {
    /// Creates it.
    public init() {}

    /// Always fails as unreachable.
    public func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        throw .unreachable(.network)
    }
}
