import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

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
    /// Builds the pipeline of a connection, as far as it is known before its handshake.
    func open(_ channel: any Channel, _ share: ConnectionShare, _ open: OpenConnection) throws -> Value {
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
        _ share: ConnectionShare,
        _ open: OpenConnection,
        _ security: ConnectionSecurity
    ) throws -> ServedConnection {
        let annotations = ResponseAnnotations()
        try addHTTP1Handlers(to: channel, annotations, share, open, security)
        return .http1(try requestChannel(on: channel, annotations, security, waitingParts: Self.waitingParts))
    }

    /// How many parts of a request wait for its task before no more is read: head, body and end of a small one, and of
    /// a large one 1 MiB at most (``BodyPieces``).
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
        _ share: ConnectionShare,
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
        // What is kept is for requests that came by TLS.
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
