public import HummingbirdCore
public import Logging
public import NIOCore

/// HTTP/1.1 and HTTP/2 connections with Larder's own limits, deadlines and closing, for Hummingbird's server.
///
/// Pipeline of HTTP/1.1: TLS → byte counts or response cache → encoder → decoder → connection handler → HTTP types →
/// `NIOAsyncChannel`. Of HTTP/2: TLS → repeated requests → frames → response cache and end of the connection →
/// streams, each with: stream handler → connection handler → HTTP types → `NIOAsyncChannel`.
public struct LarderHTTPChannel: ServerChildChannel, HTTPChannelHandler {
    /// An accepted connection.
    public struct Value: ServerChildChannelValue {
        /// The connection's channel.
        public let channel: any Channel
        let progress: ConnectionProgress
    }

    /// Hummingbird's responder.
    public let responder: HTTPChannelHandler.Responder
    /// Limits of every connection.
    public let limits: ConnectionLimits

    let reports: ConnectionReports
    let responseCache: ResponseCache?
    let tls: TLSOptions?
    let largeBodies = LargeBodyPlaces()
    private let connections: OpenConnections
    private let queues: FairQueues

    /// Creates a channel for Hummingbird's `HTTPServerBuilder`.
    /// - Parameters:
    ///   - responder: Hummingbird's responder
    ///   - limits: sizes, counts and deadlines
    ///   - problem: renders a refusal, of a request whose head is nil if it has not arrived; called on the event loop
    ///   - onRefusal: is called for every refused request, on the event loop
    ///   - onAbruptClose: is called for every connection that was closed without a whole response
    ///   - connections: counts the connections, and limits those of one client
    ///   - responseCache: responses that are sent ahead of the decoder
    ///   - tls: nil for a port without TLS
    public init(
        responder: @escaping HTTPChannelHandler.Responder,
        limits: ConnectionLimits = .standard,
        problem: @escaping @Sendable (ConnectionRefusal, RefusedHead?) -> RefusalContent,
        onRefusal: @escaping @Sendable (ConnectionRefusal) -> Void = { _ in },
        onAbruptClose: @escaping @Sendable (AbruptClose) -> Void = { _ in },
        connections: OpenConnections = OpenConnections(limit: .max, exempt: .none),
        responseCache: ResponseCache? = nil,
        tls: TLSOptions? = nil
    ) {
        self.responder = ExclusiveBodyReader.guarding(responder)
        self.limits = limits
        self.reports = ConnectionReports(
            problem: RefusalContents(problem).content(of:_:),
            onRefusal: onRefusal,
            onAbruptClose: onAbruptClose
        )
        self.connections = connections
        self.responseCache = responseCache
        self.tls = tls
        queues = FairQueues(exempt: connections.exempt)
    }

    /// Builds the pipeline of an accepted connection when it is the turn of its client; closes it at once if its client
    /// has too many.
    public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard let open = connections.admit(channel, onEnd: reports.onAbruptClose) else {
            reports.onAbruptClose(.tooManyConnections)
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ChannelError.eof)
        }
        let promise = channel.eventLoop.makePromise(of: Value.self)
        Arrival(channel, queues.share(of: channel)) { share in
            promise.assumeIsolated().completeWith(Result { try self.open(channel, share, open) })
        } leaves: {
            promise.fail(ChannelError.eof)
        }.begin()
        return promise.futureResult
    }

    /// Serves the requests of a connection until it closes.
    public func handle(value: Value, logger: Logger) async {
        switch await value.progress.connection {
        case .http1(let connection):
            await serve(connection, logger)
        case .http2(let connection):
            await withDiscardingTaskGroup { group in
                for await stream in connection.streams { group.addTask { await serve(stream, logger) } }
            }
            // Still open if the server does not wait any longer.
            connection.channel.close(promise: nil)
        case nil:
            break
        }
    }

    private func serve(_ requests: RequestChannel, _ logger: Logger) async {
        await ResponseAnnotations.$ofConnection.withValue(requests.annotations) {
            await handleHTTP(asyncChannel: requests.asyncChannel, logger: logger)
        }
    }
}
