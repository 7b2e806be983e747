import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
public import NIOPosix
import NIOSSL

/// The transport on async-http-client: pooled connections, body collected up to a limit, a deadline over all of it.
///
/// It has several clients. One connects to what the operator configured; another, for links and redirects to listed
/// hosts, checks the address of every connection before a request is sent on it, which no change of DNS between check
/// and connect can defeat. The others are for bodies in parts, and for requests that are sent again.
public final class HTTPClientTransport: Transport {
    private let configured: HTTPClient
    private let publicOnly: HTTPClient
    let streaming: HTTPClient
    let publicStreaming: HTTPClient
    let uploads: Uploads
    let publicUploads: Uploads
    /// Of the interim responses of requests that are sent in parts.
    let listeners = InterimListeners()
    /// Clients that use each connection once.
    let fresh: HTTPClient
    let publicFresh: HTTPClient

    /// Creates clients on the given event loops.
    ///
    /// - Parameter connectTimeout: Longest time for name resolution, TCP and TLS together.
    public init(eventLoopGroup: MultiThreadedEventLoopGroup, connectTimeout: Duration) {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .init(connectTimeout)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        configuration.http1_1ConnectionDebugInitializer = Self.guarded(publicAddressesOnly: false, listeners)
        configured = HTTPClient(eventLoopGroupProvider: .shared(eventLoopGroup), configuration: configuration)
        streaming = HTTPClient(
            eventLoopGroupProvider: .shared(eventLoopGroup),
            configuration: Self.forStreaming(configuration)
        )
        uploads = Uploads(on: eventLoopGroup, configuration: Self.forStreaming(configuration))
        fresh = HTTPClient(
            eventLoopGroupProvider: .shared(eventLoopGroup),
            configuration: Self.forResending(configuration)
        )
        configuration.http1_1ConnectionDebugInitializer = Self.guarded(publicAddressesOnly: true, listeners)
        publicOnly = HTTPClient(eventLoopGroupProvider: .shared(eventLoopGroup), configuration: configuration)
        publicStreaming = HTTPClient(
            eventLoopGroupProvider: .shared(eventLoopGroup),
            configuration: Self.forStreaming(configuration)
        )
        publicUploads = Uploads(on: eventLoopGroup, configuration: Self.forStreaming(configuration))
        publicFresh = HTTPClient(
            eventLoopGroupProvider: .shared(eventLoopGroup),
            configuration: Self.forResending(configuration)
        )
    }

    /// Prepares each connection of a client before its first request: checks its address and adds the
    /// ``ResponseGuard``.
    ///
    /// async-http-client calls it for each HTTP/1.1 connection, plain, TLS or behind a proxy, on the connection's event
    /// loop and with its own handlers in place. `httpVersion` is `http1Only`, so there is no other kind of connection.
    private static func guarded(publicAddressesOnly: Bool, _ listeners: InterimListeners)
        -> @Sendable (any Channel) -> EventLoopFuture<Void>
    {
        { channel in
            do {
                if publicAddressesOnly {
                    guard let address = channel.remoteAddress, AddressRules.isPublic(address) else {
                        throw PrivateAddress()
                    }
                }
                try ResponseGuard.add(to: channel, listeners)
                return channel.eventLoop.makeSucceededVoidFuture()
            } catch {
                // The client forgets a connection that is refused here without closing it.
                let refused = channel.eventLoop.makePromise(of: Void.self)
                channel.close().whenComplete { _ in refused.fail(error) }
                return refused.futureResult
            }
        }
    }

    /// Closes all connections.
    ///
    /// - Throws: `HTTPClientError` if it was shut down before.
    public func shutdown() async throws {
        try await configured.shutdown()
        try await streaming.shutdown()
        try await publicStreaming.shutdown()
        try await uploads.shutdown()
        try await publicUploads.shutdown()
        try await publicOnly.shutdown()
        try await fresh.shutdown()
        try await publicFresh.shutdown()
    }

    /// Sends one request over the network.
    ///
    /// - Throws: Why there is no response, or none that is used.
    public func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        let outcome: Result<IncomingResponse, UpstreamError> = await withTaskGroup(
            of: Result<IncomingResponse, UpstreamError>?.self
        ) { group in
            group.addTask { await self.attempt(request, within: limits) }
            group.addTask {
                // `HTTPClient.execute(timeout:)` ends with the head; this one covers the body too. Cancelled when the
                // response is complete.
                try? await Task.sleep(for: limits.total)
                return Task.isCancelled ? nil : .failure(.unreachable(.totalTimeout))
            }
            var first: Result<IncomingResponse, UpstreamError>?
            while first == nil, let finished = await group.next() { first = finished }
            group.cancelAll()
            return first ?? .failure(.unreachable(.totalTimeout))
        }
        return try outcome.get()
    }

    private func attempt(_ request: OutgoingRequest, within limits: TransportLimits) async -> Result<
        IncomingResponse, UpstreamError
    > {
        var status: HTTPResponse.Status?
        do {
            var outgoing = try Self.request(request.method, request.url, request.headerFields, within: limits)
            if let body = request.body { outgoing.body = .bytes(body) }
            let client = limits.publicAddressesOnly ? publicOnly : configured
            let resending = request.isSentOnce ? Resending.ifNotSent : Resending(request.method)
            let response = try await execute(outgoing, on: client, resending, within: limits)
            status = try Self.status(of: response)
            let fields = Self.fields(response.headers)
            let body = try await response.body.collect(upTo: limits.maximumBytes)
            return .success(
                IncomingResponse(status: status ?? .ok, headerFields: fields, body: Array(body.readableBytesView))
            )
        } catch is NIOTooManyBytesError {
            return .failure(.badResponse(status: status, reason: "more than \(limits.maximumBytes) bytes"))
        } catch is PrivateAddress {
            return .failure(.forbiddenTarget("an address that is not public"))
        } catch {
            if let status { return .failure(Self.whileReading(error, status: status)) }
            return .failure(Self.beforeHead(error))
        }
    }
}

/// A connection was made to an address that is not public.
struct PrivateAddress: Error {}
