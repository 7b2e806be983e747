public import HummingbirdCore
public import Logging
public import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// HTTP/1.1 connections with Larder's own limits, deadlines and closing, for Hummingbird's server.
///
/// Pipeline: byte counts or response cache → encoder → decoder → connection handler → HTTP types → `NIOAsyncChannel`.
public struct LarderHTTPChannel: ServerChildChannel, HTTPChannelHandler {
    /// An accepted connection.
    public struct Value: ServerChildChannelValue {
        let asyncChannel: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
        let annotations: ResponseAnnotations

        /// The connection's channel.
        public var channel: any Channel { asyncChannel.channel }
    }

    /// Hummingbird's responder.
    public let responder: HTTPChannelHandler.Responder
    /// Limits of every connection.
    public let limits: ConnectionLimits

    private let reports: ConnectionReports
    private let connections: OpenConnections?
    private let responseCache: ResponseCache?
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
    public init(
        responder: @escaping HTTPChannelHandler.Responder,
        limits: ConnectionLimits = .standard,
        problem: @escaping @Sendable (ConnectionRefusal, RefusedHead?) -> RefusalContent,
        onRefusal: @escaping @Sendable (ConnectionRefusal) -> Void = { _ in },
        onAbruptClose: @escaping @Sendable (AbruptClose) -> Void = { _ in },
        connections: OpenConnections? = nil,
        responseCache: ResponseCache? = nil
    ) {
        self.responder = ExclusiveBodyReader.guarding(responder)
        self.limits = limits
        self.reports = ConnectionReports(problem: problem, onRefusal: onRefusal, onAbruptClose: onAbruptClose)
        self.connections = connections
        self.responseCache = responseCache
        queues = FairQueues(exempt: connections?.exempt ?? .none)
    }

    /// Builds the pipeline of an accepted connection when it is the turn of its client; closes it at once if its client
    /// has too many.
    public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard connections?.admit(channel) ?? true else {
            reports.onAbruptClose(.tooManyConnections)
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ChannelError.eof)
        }
        let promise = channel.eventLoop.makePromise(of: Value.self)
        Arrival(channel, queues.share(of: channel)) { share in
            promise.assumeIsolated().completeWith(Result { try self.value(of: channel, share) })
        } leaves: {
            promise.fail(ChannelError.eof)
        }.begin()
        return promise.futureResult
    }

    private func value(of channel: any Channel, _ share: ConnectionShare) throws -> Value {
        let annotations = ResponseAnnotations()
        try addHTTP1Handlers(to: channel, annotations, share)
        try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        let asyncChannel = try NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>(
            wrappingChannelSynchronously: channel,
            configuration: .init(isOutboundHalfClosureEnabled: true)
        )
        // A connection that is accepted while the server stops gets no handler. The channel has to outlive it all the
        // same: NIO ends the process if a writer is released before.
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(asyncChannel) {} }
        return Value(asyncChannel: asyncChannel, annotations: annotations)
    }

    /// Serves the requests of a connection until it closes.
    public func handle(value: Value, logger: Logger) async {
        await ResponseAnnotations.$ofConnection.withValue(value.annotations) {
            await handleHTTP(asyncChannel: value.asyncChannel, logger: logger)
        }
    }

    /// Adds everything up to and including the connection handler.
    func addHTTP1Handlers(
        to channel: any Channel,
        _ annotations: ResponseAnnotations,
        _ share: ConnectionShare
    ) throws {
        var decoderLimits = NIOHTTPDecoderLimitConfiguration()
        decoderLimits.maxHeaderFieldSize = limits.headerBytes
        decoderLimits.maxHeaderListSize = limits.headerBytes
        decoderLimits.maxHeaderFieldCount = limits.headerCount
        // One read at a time: all requests of a read are decoded before the first is responded to, so this bounds the
        // memory that pipelining takes.
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        let counter = ByteCounter()
        let pipeline = channel.pipeline.syncOperations
        let connection = ConnectionHandler(
            limits: limits,
            counter: counter,
            reports: reports,
            annotations: annotations,
            share: share,
            now: channel.eventLoop.now
        )
        if let responseCache {
            try pipeline.addHandler(ResponseCacheHandler(responseCache, connection: connection))
        } else {
            try pipeline.addHandler(counter)
        }
        try pipeline.addHandlers([
            HTTPResponseEncoder(),
            ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: decoderLimits)
            ),
            connection,
        ])
    }
}
