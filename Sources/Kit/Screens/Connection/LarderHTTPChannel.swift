public import HummingbirdCore
public import Logging
public import NIOCore
import NIOHTTP1
public import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// HTTP/1.1 connections with Larder's own limits, deadlines and closing, for Hummingbird's server.
///
/// Pipeline: byte counts and cached responses → encoder → decoder → connection handler → front handlers → HTTP types →
/// `NIOAsyncChannel`.
public struct LarderHTTPChannel: ServerChildChannel, HTTPChannelHandler {
    /// The parts Hummingbird reads and writes.
    public typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// Hummingbird's answer to a request.
    public let responder: HTTPChannelHandler.Responder
    /// Limits of every connection.
    public let limits: ConnectionLimits

    private let reports: ConnectionReports
    private let rendered: ResponseCache?
    private let frontHandlers: (@Sendable () -> [any RemovableChannelHandler])?

    /// A channel for Hummingbird's `HTTPServerBuilder`.
    /// - Parameters:
    ///   - responder: Hummingbird's responder
    ///   - limits: sizes, counts and deadlines
    ///   - problem: renders a refusal; called on the event loop
    ///   - onRefusal: told of every request that was refused; called on the event loop
    ///   - onCut: told of every connection that was closed without a whole response; called on the event loop
    ///   - rendered: answers that are kept and given ahead of the decoder; the router has to have the same
    ///   - frontHandlers: handlers of one connection that may answer on the event loop, ahead of Hummingbird. They see
    ///     `HTTPServerRequestPart`, one request at a time, and answer with `HTTPServerResponsePart` once they have seen the request's
    ///     `.end` (a response before that ends the connection); what they do not pass on, Hummingbird never sees
    public init(
        responder: @escaping HTTPChannelHandler.Responder,
        limits: ConnectionLimits = .standard,
        problem: @escaping @Sendable (ConnectionRefusal) -> (contentType: String, body: [UInt8]),
        onRefusal: @escaping @Sendable (ConnectionRefusal) -> Void = { _ in },
        onCut: @escaping @Sendable (AbruptClose) -> Void = { _ in },
        rendered: ResponseCache? = nil,
        frontHandlers: (@Sendable () -> [any RemovableChannelHandler])? = nil
    ) {
        self.responder = ExclusiveBodyReader.guarding(responder)
        self.limits = limits
        self.reports = ConnectionReports(problem: problem, onRefusal: onRefusal, onCut: onCut)
        self.rendered = rendered
        self.frontHandlers = frontHandlers
    }

    /// Builds the pipeline of an accepted connection.
    public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try addHTTP1Handlers(to: channel)
            try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            let value = try Value(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true)
            )
            // One that is accepted while the server stops is handed to nobody. It has to outlive its connection all the
            // same: NIO ends the process over a writer that is let go before.
            channel.closeFuture.whenComplete { _ in withExtendedLifetime(value) {} }
            return value
        }
    }

    /// Serves the requests of a connection until it closes.
    public func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }

    /// Everything up to and including the front handlers.
    func addHTTP1Handlers(to channel: any Channel) throws {
        var decoderLimits = NIOHTTPDecoderLimitConfiguration()
        decoderLimits.maxHeaderFieldSize = limits.headerBytes
        decoderLimits.maxHeaderListSize = limits.headerBytes
        decoderLimits.maxHeaderFieldCount = limits.headerCount
        // One read at a time: all requests of a read are decoded before the first is answered, so this bounds what
        // pipelining takes.
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        let meter = ByteCounter()
        let pipeline = channel.pipeline.syncOperations
        let connection = ConnectionHandler(limits: limits, meter: meter, reports: reports, now: channel.eventLoop.now)
        if let rendered {
            try pipeline.addHandler(ResponseCacheHandler(responses: rendered, connection: connection))
        } else {
            try pipeline.addHandler(meter)
        }
        try pipeline.addHandlers([
            HTTPResponseEncoder(),
            ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: decoderLimits)
            ),
            connection,
        ])
        if let frontHandlers { try pipeline.addHandlers(frontHandlers()) }
    }
}
