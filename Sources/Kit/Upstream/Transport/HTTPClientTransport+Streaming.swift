import AsyncHTTPClient
import Concurrency
import Glibc
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

extension HTTPClientTransport {
    /// Returns a configuration for streams: many connections at a time, since a stream holds one for as long as its
    /// client likes. Idle connections are closed before common servers close theirs (5 s), so that few requests meet a
    /// connection that is about to end.
    static func forStreaming(_ configuration: HTTPClient.Configuration) -> HTTPClient.Configuration {
        var configuration = configuration
        configuration.connectionPool.idleTimeout = .seconds(4)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        return configuration
    }

    /// Sends one request over the network with bodies in parts. Parts of the response that are not read are not
    /// fetched.
    ///
    /// - Throws: Why there is no head of a response.
    package func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> StreamedResponse
    {
        let listener = request.interim.map(listeners.add) ?? 0
        defer { if listener > 0 { listeners.remove(listener) } }
        var outgoing = try Self.request(
            request.method,
            request.url,
            request.headerFields,
            listener: listener,
            within: limits
        )
        var client = clients(limits).streaming
        var resending = Resending(request.method)
        if let body = request.body {
            let lane = clients(limits).uploads.next()
            client = lane.client
            resending = .never
            let length = request.bodyLength.map { HTTPClientRequest.Body.Length.known(Int64($0)) } ?? .unknown
            outgoing.body = .stream(Self.marked(body).paced(by: lane.caughtUp), length: length)
        }
        do {
            let response = try await execute(outgoing, on: client, resending, within: limits)
            let status = try Self.status(of: response)
            return StreamedResponse(
                status: status,
                headerFields: Self.fields(response.headers),
                body: Self.body(of: response, status: status)
            )
        } catch is PrivateAddress {
            throw .forbiddenTarget("an address that is not public")
        } catch is RequestCutShort {
            throw .badResponse(status: nil, reason: UpstreamError.requestCutShort)
        } catch {
            throw Self.beforeHead(error)
        }
    }

    /// Marks failures of the client's body, to tell them from the upstream's.
    private static func marked(_ body: ByteStream) -> ByteStream {
        ByteStream {
            let iterator = body.makeAsyncIterator()
            return {
                do {
                    return try await iterator.next()
                } catch {
                    throw RequestCutShort()
                }
            }
        }
    }
}

/// The client stopped sending.
private struct RequestCutShort: Error {}

extension HTTPClientTransport {
    /// Clients for requests with bodies in parts, one on each event loop.
    ///
    /// async-http-client hands a part of a body to the event loop of its connection. It asks for the next one at once,
    /// until that event loop notices that the socket takes no more. If the event loop is the slower of the two, all of
    /// a large body waits in its queue of tasks, however fast the upstream reads. So the source is asked for the next
    /// part only when the event loop has processed the one before. That requires to know the event loop, and a client
    /// on one event loop has no other.
    final class Uploads: Sendable {
        /// A client and the event loop of its connections.
        struct Lane: Sendable {
            let client: HTTPClient
            fileprivate let eventLoop: any EventLoop

            /// Returns when the event loop has run all tasks that were submitted before: it runs them in order.
            @Sendable func caughtUp() async throws {
                try await eventLoop.submit {}.get()
            }
        }

        private let lanes: [Lane]
        private let count = Atomic<UInt>(0)

        init(on group: MultiThreadedEventLoopGroup, configuration: HTTPClient.Configuration) {
            lanes = group.makeIterator().map {
                Lane(
                    client: HTTPClient(eventLoopGroupProvider: .shared($0), configuration: configuration),
                    eventLoop: $0
                )
            }
        }

        /// Returns the next lane, in turns.
        func next() -> Lane {
            lanes[Int(count.wrappingAdd(1, ordering: .relaxed).oldValue % UInt(lanes.count))]
        }

        func shutdown() async throws {
            for lane in lanes { try await lane.client.shutdown() }
        }
    }
}

extension HTTPClientTransport {
    /// Translates an error that occurred before a response had begun.
    static func beforeHead(_ error: any Error) -> UpstreamError {
        switch error {
        case let error as UpstreamError:
            return error
        case let error as HTTPClientError:
            return .unreachable(reason(of: error))
        case let error as NIOConnectionError:
            let resolved = !error.connectionErrors.isEmpty
            return .unreachable(
                resolved ? error.connectionErrors.lazy.map { reason(of: $0.error) }.first ?? .refused : .nameResolution
            )
        case is HTTPParserError:
            return .badResponse(status: nil, reason: "not HTTP")
        case is ClosedConnection:
            return .unreachable(.reset)
        case is StalledExchange:
            return .unreachable(.totalTimeout)
        case let violation as ResponseSequence.Violation:
            return .badResponse(status: nil, reason: violation.description)
        case is NIOHTTPDecoderError:
            // Bytes after the previous response on a kept-alive connection: another connection may work.
            return .badResponse(status: nil, reason: UpstreamError.cutShort)
        default:
            return .unreachable(reason(of: error))
        }
    }

    /// Translates an error that occurred after the head: the upstream is there, but the response cannot be used.
    static func whileReading(_ error: any Error, status: HTTPResponse.Status) -> UpstreamError {
        if let error = error as? HTTPClientError, [.deadlineExceeded, .cancelled].contains(error) {
            return .unreachable(.totalTimeout)
        }
        if error is CancellationError || error is StalledExchange { return .unreachable(.totalTimeout) }
        if let error = error as? UpstreamError { return error }
        return .badResponse(status: status, reason: UpstreamError.cutShort)
    }

    private static func reason(of error: any Error) -> UnreachableReason {
        switch error {
        case let error as HTTPClientError: return reason(of: error)
        case is CancellationError: return .totalTimeout
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: return .tls
        case let error as ChannelError:
            if case .connectTimeout = error { return .connectTimeout }
            return .reset
        case let error as IOError:
            switch error.errnoCode {
            case ECONNREFUSED: return .refused
            case ECONNRESET, EPIPE: return .reset
            case ETIMEDOUT: return .connectTimeout
            default: return .network
            }
        default:
            // NIO's own name resolution errors (SocketAddressError.unknown) are the only others seen here.
            return error is SocketAddressError ? .nameResolution : .network
        }
    }

    private static func reason(of error: HTTPClientError) -> UnreachableReason {
        switch error {
        case .connectTimeout: .connectTimeout
        case .tlsHandshakeTimeout: .tls
        case .deadlineExceeded, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout, .cancelled: .totalTimeout
        case .remoteConnectionClosed, .uncleanShutdown: .reset
        default: .network
        }
    }
}

extension UpstreamError {
    /// The reason for a response that ended before its announced length.
    package static let cutShort = "the response was truncated"
}

/// Decides when an upstream has made one request wait too long: `event -> deadline`, without a clock.
///
/// Time counts only while the upstream is waited for: while it does not take the request's body, while no response has
/// begun (which has a limit of its own), and while the next part of the response was asked for. The time of a slow
/// client does not count. A single wait for a response that stalls may last for the limit, however much has arrived.
/// All waits together may last for the limit and a second more with each ``bytesPerSecond`` bytes, so that a response
/// that drips ends, too.
struct StallTimer: Sendable, Equatable {
    /// Slowest response that is read to its end, in bytes per second.
    static let bytesPerSecond = 16 << 10

    private enum Phase: Equatable {
        case idle
        case sending(blockedSince: NIODeadline?)
        case awaitingHead(since: NIODeadline)
        case receiving(askedAt: NIODeadline?)
    }

    private let limit: TimeAmount
    private let responseLimit: TimeAmount
    private var phase = Phase.idle
    private var waited: TimeAmount = .zero
    private var received = 0

    /// - Parameter response: Longest wait for the head of the response.
    init(limit: TimeAmount, response: TimeAmount) {
        self.limit = limit
        responseLimit = response
    }

    /// When the exchange is given up unless something happens; nil while the upstream is not waited for.
    var deadline: NIODeadline? {
        switch phase {
        case .idle: nil
        case .sending(let since): since.map { $0 + limit }
        case .awaitingHead(let since): since + responseLimit
        case .receiving(let askedAt): askedAt.map { $0 + min(limit, allowance - waited) }
        }
    }

    private var allowance: TimeAmount {
        limit + .milliseconds(Int64(received / (Self.bytesPerSecond / 1000)))
    }

    /// Records that the head or a part of the request was written.
    mutating func wrote(isWritable: Bool, at now: NIODeadline) {
        if case .receiving = phase { return }
        phase = .sending(blockedSince: isWritable ? nil : now)
    }

    /// Records that the connection takes more bytes, or no more.
    mutating func writabilityChanged(_ isWritable: Bool, at now: NIODeadline) {
        guard case .sending = phase else { return }
        phase = .sending(blockedSince: isWritable ? nil : now)
    }

    /// Records that the request was written to its end.
    mutating func wroteEnd(at now: NIODeadline) {
        if case .sending = phase { phase = .awaitingHead(since: now) }
    }

    /// Records that more of the response was requested.
    mutating func asked(at now: NIODeadline) {
        if case .receiving(nil) = phase { phase = .receiving(askedAt: now) }
    }

    /// Records a part of the response, 0 bytes for its head.
    mutating func received(_ bytes: Int, at now: NIODeadline) {
        if case .receiving(let askedAt?) = phase { waited = waited + (now - askedAt) }
        phase = .receiving(askedAt: nil)
        received += bytes
    }

    /// Records the end of the response.
    mutating func ended() { phase = .idle }
}
