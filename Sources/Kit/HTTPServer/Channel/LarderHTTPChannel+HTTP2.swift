import NIOCore
import NIOHTTP2

/// An HTTP/2 connection, and its streams as they are opened.
struct HTTP2Connection: Sendable {
    let channel: any Channel
    let streams: AsyncStream<RequestChannel>
}

extension LarderHTTPChannel {
    /// Builds the pipeline of a connection: repeated requests → frames → connection handler → streams.
    func http2Connection(
        on channel: any Channel,
        _ share: ConnectionShare,
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

    /// How many parts of a request wait for its task before the window of its stream stays shut: a part is what is in
    /// one frame, 16 KiB at most.
    private static let waitingFrames = 10

    /// Adds everything of a connection.
    ///
    /// - Parameter openStream: Is called for each stream.
    func addHTTP2Handlers(
        to channel: any Channel,
        _ share: ConnectionShare,
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
        _ share: ConnectionShare,
        _ open: OpenConnection
    ) throws {
        let connection = ConnectionHandler(
            limits: limits,
            counter: ByteCounter(),
            reports: reports,
            annotations: annotations,
            share: ConnectionShare(ofStreamOf: share),
            open: open,
            security: .tls,
            now: stream.eventLoop.now
        )
        try stream.pipeline.syncOperations.addHandlers([
            HTTP2StreamHandler(connection: connection, cache: responseCache), connection,
        ])
    }
}
