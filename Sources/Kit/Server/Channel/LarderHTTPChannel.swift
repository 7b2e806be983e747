package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// HTTP/1.1 and HTTP/2 connections with Larder's own limits, deadlines and closing, for Hummingbird's server.
///
/// Pipeline of HTTP/1.1: TLS → byte counts or response cache → encoder → decoder → connection handler → HTTP types →
/// `NIOAsyncChannel`. Of HTTP/2: TLS → repeated requests → frames → response cache and end of the connection →
/// streams, each with: stream handler → connection handler → HTTP types → `NIOAsyncChannel`.
package struct LarderHTTPChannel: ServerChildChannel, HTTPChannelHandler {
    package struct Value: ServerChildChannelValue {
        package let channel: any Channel
        let progress: ConnectionProgress
    }

    package let responder: HTTPChannelHandler.Responder
    let limits: ConnectionLimits

    let reports: ConnectionReports
    let responseCache: ResponseCache?
    let tls: TLSOptions?
    let largeBodies = LargeBodySlots()
    private let connections: OpenConnections
    private let queues: ClientSchedulers

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
    package init(
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
        queues = ClientSchedulers(exempt: connections.exempt)
    }

    /// Builds the pipeline of an accepted connection when its client has a slot; closes it at once if its client
    /// has too many.
    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
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
    package func handle(value: Value, logger: Logger) async {
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

/// A channel of requests and responses whose pipeline is complete: a connection of HTTP/1.1, or a stream of HTTP/2.
struct RequestChannel: Sendable {
    let asyncChannel: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
    let annotations: ResponseAnnotations
}

/// A connection whose protocol is known.
enum ServedConnection: Sendable {
    case http1(RequestChannel)
    case http2(HTTP2Connection)
}

/// How far the pipeline of an accepted connection is.
enum ConnectionProgress: Sendable {
    case complete(ServedConnection)
    /// Complete when the handshake has ended; fails if that does.
    case handshake(EventLoopFuture<ServedConnection>)

    /// The connection, once its pipeline is complete; nil if its handshake has failed.
    var connection: ServedConnection? {
        get async {
            switch self {
            case .complete(let connection): connection
            // A failure was counted where it happened, and has closed the channel.
            case .handshake(let future): try? await future.get()
            }
        }
    }
}

extension LarderHTTPChannel {
    /// Builds the pipeline of a connection: all of it without TLS, else its part before the end of the handshake.
    func open(_ channel: any Channel, _ share: SchedulerShare, _ open: OpenConnection) throws -> Value {
        guard let tls else {
            let connection = try http1Connection(on: channel, share, open, .clearText)
            return Value(channel: channel, progress: .complete(connection))
        }
        let promise = channel.eventLoop.makePromise(of: ServedConnection.self)
        let entry = TLSEntryHandler(limits: limits, share: share, makeContext: tls.context) { outcome in
            switch outcome {
            case .clearText:
                promise.succeed(try self.http1Connection(on: channel, share, open, .clearTextOnTLS(tls.hosts)))
            case .tls(protocol: "h2"):
                promise.succeed(.http2(try self.http2Connection(on: channel, share, open)))
            case .tls:
                promise.succeed(try self.http1Connection(on: channel, share, open, .tls))
            case .failed(let reason):
                if let reason { self.reports.onAbruptClose(reason) }
            }
        }
        channel.closeFuture.whenComplete { _ in promise.fail(ChannelError.eof) }
        try channel.pipeline.syncOperations.addHandler(entry)
        return Value(channel: channel, progress: .handshake(promise.futureResult))
    }

    private func http1Connection(
        on channel: any Channel,
        _ share: SchedulerShare,
        _ open: OpenConnection,
        _ security: ConnectionSecurity
    ) throws -> ServedConnection {
        let annotations = ResponseAnnotations()
        try addHTTP1Handlers(to: channel, annotations, share, open, security)
        return .http1(try requestChannel(on: channel, annotations, security, waitingParts: Self.waitingParts))
    }

    /// How many parts of a request wait for its task before the server stops reading. A small request has three: head,
    /// body and end. The waiting parts of a large one have 1 MiB together at most (``BodyPieces``).
    private static let waitingParts = 4

    /// Completes a pipeline that ends with a connection handler.
    func requestChannel(
        on channel: any Channel,
        _ annotations: ResponseAnnotations,
        _ security: ConnectionSecurity,
        waitingParts: Int
    ) throws -> RequestChannel {
        try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPServerCodec(secure: security.scheme == "https://"))
        let asyncChannel = try NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>(
            wrappingChannelSynchronously: channel,
            configuration: .init(
                backPressureStrategy: .init(lowWatermark: 2, highWatermark: waitingParts),
                isOutboundHalfClosureEnabled: true
            )
        )
        // A channel that is opened while the server stops gets no handler. It has to outlive it all the same: NIO ends
        // the process if a writer is released before.
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(asyncChannel) {} }
        return RequestChannel(asyncChannel: asyncChannel, annotations: annotations)
    }

    /// Adds everything up to and including the connection handler.
    func addHTTP1Handlers(
        to channel: any Channel,
        _ annotations: ResponseAnnotations,
        _ share: SchedulerShare,
        _ open: OpenConnection,
        _ security: ConnectionSecurity = .clearText
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
            open: open,
            security: security,
            largeBodies: largeBodies,
            now: channel.eventLoop.now
        )
        // Cached responses are for requests that came by TLS.
        if let responseCache, !security.isRefused {
            try pipeline.addHandler(ResponseCacheHandler(responseCache, connection: connection))
        } else {
            counter.connection = connection
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

/// An HTTP/2 connection and the sequence of its streams.
struct HTTP2Connection: Sendable {
    let channel: any Channel
    let streams: AsyncStream<RequestChannel>
}

extension LarderHTTPChannel {
    /// Builds the pipeline of a connection: repeated requests → frames → connection handler → streams.
    func http2Connection(
        on channel: any Channel,
        _ share: SchedulerShare,
        _ open: OpenConnection
    ) throws -> HTTP2Connection {
        let (streams, opened) = AsyncStream.makeStream(of: RequestChannel.self)
        channel.closeFuture.whenComplete { _ in opened.finish() }
        let boundShare = NIOLoopBound(share, eventLoop: channel.eventLoop)
        try addHTTP2Handlers(to: channel, share, open) { stream in
            stream.eventLoop.makeCompletedFuture {
                let annotations = ResponseAnnotations()
                try addStreamHandlers(to: stream, annotations, boundShare.value, open)
                opened.yield(try requestChannel(on: stream, annotations, .tls, waitingParts: Self.waitingFrames))
            }
        }
        return HTTP2Connection(channel: channel, streams: streams)
    }

    /// How many parts of a request wait for its task before the window of its stream stays shut: a part is the content
    /// of one frame, 16 KiB at most.
    private static let waitingFrames = 10

    /// Adds everything of a connection.
    ///
    /// - Parameter openStream: Is called for each stream.
    func addHTTP2Handlers(
        to channel: any Channel,
        _ share: SchedulerShare,
        _ open: OpenConnection,
        openStream: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) throws {
        let (requests, written) = (HTTP2RepeatedRequests(), HTTP2WrittenFrames())
        let connection = HTTP2ConnectionHandler(
            limits: limits,
            counter: ByteCounter(),
            written: written,
            requests: requests,
            reports: reports,
            share: share,
            open: open,
            cache: responseCache,
            now: channel.eventLoop.now
        )
        try channel.pipeline.syncOperations.addHandlers([
            HTTP2RepeatHandler(responseCache, connection: connection, requests: requests, written: written),
            NIOHTTP2Handler.larder(limits, written),
            connection,
            HTTP2StreamMultiplexer(
                mode: .server,
                channel: channel,
                targetWindowSize: HTTP2Limits.window,
                outboundBufferSizeHighWatermark: HTTP2Limits.outputHigh,
                outboundBufferSizeLowWatermark: HTTP2Limits.outputLow,
                inboundStreamInitializer: openStream
            ),
        ])
    }

    /// Adds everything of a stream up to and including the connection handler, which serves a stream like a connection
    /// with one request.
    func addStreamHandlers(
        to stream: any Channel,
        _ annotations: ResponseAnnotations,
        _ share: SchedulerShare,
        _ open: OpenConnection
    ) throws {
        let connection = ConnectionHandler(
            limits: limits,
            counter: ByteCounter(),
            reports: reports,
            annotations: annotations,
            share: SchedulerShare(ofStreamOf: share),
            open: open,
            security: .tls,
            now: stream.eventLoop.now
        )
        try stream.pipeline.syncOperations.addHandlers([
            HTTP2StreamHandler(connection: connection, cache: responseCache), connection,
        ])
    }
}
