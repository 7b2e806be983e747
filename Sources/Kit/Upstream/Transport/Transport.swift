public import HTTPTypes
public import ResponseStore

/// A request with a body in memory.
public struct OutgoingRequest: Sendable, Equatable {
    /// Method.
    public var method: HTTPRequest.Method
    /// Absolute URL.
    public var url: String
    /// Header fields; `Host` and framing fields are added by the transport.
    public var headerFields: HTTPFields
    /// Body, if any.
    public var body: [UInt8]?
    /// Whether it must not be sent again after a failure, although its method is idempotent: if an API responds
    /// differently to the second of two equal requests (`DELETE`: 404), a retry hides what the first one did.
    public var isSentOnce: Bool
    /// The account for which it is sent: an API that limits requests by account pauses this one only.
    public var credential: CredentialHash?
    /// Whether it is for a picture (``Resource/isPicture``).
    public var isPicture: Bool

    /// Creates a request.
    public init(
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

/// The limits of one attempt.
public struct TransportLimits: Sendable, Equatable {
    /// Longest wait for the whole response.
    public var total: Duration
    /// Largest body, in bytes.
    public var maximumBytes: Int
    /// Whether only public addresses may be connected to, as for hosts other than the configured upstream.
    public var publicAddressesOnly: Bool
    /// Longest time in which a streamed body makes no progress because of the upstream.
    public var stall: Duration
    /// Longest wait for the head of the response once a streamed request was sent.
    public var response: Duration

    /// Creates limits for one attempt.
    ///
    /// - Parameters:
    ///   - stall: Longest time without progress; nil for `total`.
    ///   - response: Longest wait for the head of the response; nil for `stall`.
    public init(
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
public protocol Transport: Sendable {
    /// Sends a request and receives the whole response.
    ///
    /// - Returns: The response, whatever its status.
    /// - Throws: ``UpstreamError/unreachable(_:)``, ``UpstreamError/badResponse(status:reason:)`` or
    ///   ``UpstreamError/forbiddenTarget(_:)``.
    func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse

    /// Sends a request with bodies in parts, both ways, as fast as they are read. ``TransportLimits/total`` ends with
    /// the response's head, ``TransportLimits/stall`` applies to both bodies, ``TransportLimits/response`` to the time
    /// between them; their size is not limited.
    ///
    /// - Returns: The head of the response, whatever its status, with its body.
    /// - Throws: ``UpstreamError/unreachable(_:)``, ``UpstreamError/badResponse(status:reason:)`` or
    ///   ``UpstreamError/forbiddenTarget(_:)``.
    func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> StreamedResponse
}

/// A transport that sends nothing: the default of tests that need no upstream.
public struct NoTransport: Transport {
    /// Creates it.
    public init() {}

    /// Fails.
    ///
    /// - Throws: Always ``UpstreamError/unreachable(_:)``.
    public func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        throw .unreachable(.network)
    }
}
