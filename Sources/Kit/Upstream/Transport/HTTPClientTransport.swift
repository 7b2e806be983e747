import AsyncHTTPClient
import Concurrency
import HTTP
import HTTPTypes
import NIOCore
import NIOHTTP1
package import NIOPosix
import NIOSSL

/// The transport on async-http-client: pooled connections, body collected up to a limit, a deadline over all of it.
///
/// It has several clients. One connects to addresses that the operator configured. Another, for links and redirects to
/// listed hosts, checks the address of every connection before a request is sent on it, which no change of DNS in
/// between can defeat. The others are for bodies in parts, and for requests that are sent again.
package final class HTTPClientTransport: Transport {
    /// Clients for the addresses of one kind.
    struct Clients: Sendable {
        let whole: HTTPClient
        let streaming: HTTPClient
        let uploads: Uploads
        /// Uses each connection once.
        let fresh: HTTPClient

        fileprivate init(_ group: MultiThreadedEventLoopGroup, _ configuration: HTTPClient.Configuration) {
            let (streams, resent) = (
                HTTPClientTransport.forStreaming(configuration), HTTPClientTransport.forResending(configuration)
            )
            whole = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
            streaming = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: streams)
            uploads = Uploads(on: group, configuration: streams)
            fresh = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: resent)
        }

        fileprivate func shutdown() async throws {
            try await whole.shutdown()
            try await streaming.shutdown()
            try await uploads.shutdown()
            try await fresh.shutdown()
        }
    }

    private let configured: Clients
    private let publicOnly: Clients
    /// Of the interim responses of requests that are sent in parts.
    let listeners = InterimListeners()

    /// Creates clients on the given event loops.
    ///
    /// - Parameter connectTimeout: Longest time for name resolution, TCP and TLS together.
    package init(eventLoopGroup: MultiThreadedEventLoopGroup, connectTimeout: Duration) {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .init(connectTimeout)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        configuration.http1_1ConnectionDebugInitializer = Self.guarded(publicAddressesOnly: false, listeners)
        configured = Clients(eventLoopGroup, configuration)
        configuration.http1_1ConnectionDebugInitializer = Self.guarded(publicAddressesOnly: true, listeners)
        publicOnly = Clients(eventLoopGroup, configuration)
    }

    /// Returns the clients for the addresses that a request may be sent to.
    func clients(_ limits: TransportLimits) -> Clients { limits.publicAddressesOnly ? publicOnly : configured }

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

    /// Runs work with a client, which is shut down afterwards.
    ///
    /// - Throws: The errors of the work, and of async-http-client.
    package static func during<Value>(
        connectTimeout: Duration = .seconds(5),
        _ work: (HTTPClientTransport) async throws -> Value
    ) async throws -> Value {
        let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: connectTimeout)
        let result: Result<Value, any Error>
        do {
            result = .success(try await work(transport))
        } catch {
            result = .failure(error)
        }
        try await transport.shutdown()
        return try result.get()
    }

    /// Closes all connections.
    ///
    /// - Throws: `HTTPClientError` if it was shut down before.
    package func shutdown() async throws {
        try await configured.shutdown()
        try await publicOnly.shutdown()
    }

    /// Sends one request over the network.
    ///
    /// - Throws: Why there is no response, or none that is used.
    package func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
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
            let resending = request.isSentOnce ? Resending.ifNotSent : Resending(request.method)
            let response = try await execute(outgoing, on: clients(limits).whole, resending, within: limits)
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

// Translates requests and responses between Larder's types and async-http-client's, with the checks that the libraries
// leave to their callers.
extension HTTPClientTransport {
    /// Makes a request without its body. The library gets the origin of the URL, the guard the rest of it.
    ///
    /// - Throws: ``UpstreamError/forbiddenTarget(_:)`` if no connection can be made to the URL: nothing else keeps it
    ///   from NIO.
    static func request(
        _ method: HTTPRequest.Method,
        _ url: String,
        _ fields: HTTPFields,
        listener: Int = 0,
        within limits: TransportLimits
    ) throws(UpstreamError) -> HTTPClientRequest {
        let target: HTTPURL
        do throws(HTTPURL.Defect) {
            target = try HTTPURL(url)
        } catch {
            throw .forbiddenTarget(error.description)
        }
        var request = HTTPClientRequest(url: target.origin + "/")
        request.method = .init(rawValue: method.rawValue)
        for field in fields { request.headers.add(name: field.name.rawName, value: field.value) }
        GuardedRequest(
            target: target.requestTarget,
            stallLimit: .init(limits.stall),
            responseLimit: .init(limits.response),
            listener: listener
        ).add(to: &request.headers)
        return request
    }

    /// The status of a final response.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` for a number that is none: `HTTPTypes` ends the process
    ///   above 999.
    static func status(of response: HTTPClientResponse) throws(UpstreamError) -> HTTPResponse.Status {
        guard (200...999).contains(response.status.code) else {
            throw .badResponse(status: nil, reason: "status \(response.status.code)")
        }
        return HTTPResponse.Status(code: Int(response.status.code), reasonPhrase: response.status.reasonPhrase)
    }

    /// Converts header fields. Those whose names are no tokens are left out.
    static func fields(_ headers: HTTPHeaders) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    /// Returns the body of a response in parts. Reading it throws ``UpstreamError`` if the body is truncated, and
    /// `CancellationError`.
    static func body(of response: HTTPClientResponse, status: HTTPResponse.Status) -> ByteStream {
        ByteStream {
            var iterator = response.body.makeAsyncIterator()
            return {
                do {
                    return try await iterator.next()
                } catch {
                    try Task.checkCancellation()
                    throw whileReading(error, status: status)
                }
            }
        }
    }

    /// When a request may be sent again because its kept-alive connection was closed (RFC 9112 §9.3.1).
    enum Resending: Sendable {
        /// Its body can be read once.
        case never
        /// Its method is not idempotent: only if none of it was written.
        case ifNotSent
        /// Its method is idempotent.
        case ifUnanswered

        init(_ method: HTTPRequest.Method) {
            self = method.isIdempotent ? .ifUnanswered : .ifNotSent
        }

        /// Whether a request is sent again after an error.
        func applies(to error: any Error) -> Bool {
            switch (self, error) {
            case (.never, _): false
            case (.ifUnanswered, let error as ClosedConnection): error.isReused
            // The pool gave out a connection that was closed already. The guard reports all other closed connections.
            case (_, let error as HTTPClientError): error == .remoteConnectionClosed
            // The same, before the pool was notified (`HTTP1Connection.execute0`). The end of a body may fail like
            // this, too, so it does not prove that nothing was written.
            case (.ifUnanswered, let error as ChannelError): error == .ioOnClosedChannel
            default: false
            }
        }
    }

    /// Returns a configuration for requests that are sent again: each has a connection of its own.
    static func forResending(_ configuration: HTTPClient.Configuration) -> HTTPClient.Configuration {
        var configuration = forStreaming(configuration)
        configuration.maximumUsesPerConnection = 1
        return configuration
    }

    /// Sends a request, and once more on a new connection if it met one that its server had closed while it was idle.
    func execute(
        _ request: HTTPClientRequest,
        on client: HTTPClient,
        _ resending: Resending,
        within limits: TransportLimits
    ) async throws -> HTTPClientResponse {
        let deadline = NIODeadline.now() + .init(limits.total)
        do {
            return try await client.execute(request, deadline: deadline)
        } catch  where resending.applies(to: error) {
            return try await clients(limits).fresh.execute(request, deadline: deadline)
        }
    }
}

extension HTTPRequest.Method {
    /// Whether the method is idempotent (RFC 9110 §9.2.2).
    var isIdempotent: Bool { [.get, .head, .options, .trace, .put, .delete].contains(self) }
}
