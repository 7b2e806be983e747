import CoreMetrics
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Bodies of cached responses that the client has not taken yet, because it has not opened its windows.
struct CachedWrites {
    /// Bytes by stream.
    private(set) var waiting: [HTTP2StreamID: Int] = [:]
    private(set) var bytes = 0
    private(set) var taken = 0
    var stalled: StalledWriteDetector

    init(deadline: TimeAmount) { stalled = StalledWriteDetector(deadline: deadline) }

    mutating func wrote(_ count: Int, on stream: HTTP2StreamID, now: NIODeadline) {
        waiting[stream, default: 0] += count
        bytes += count
        if !stalled.isWatching { stalled.begin(taken: taken, now: now) }
    }

    /// The client has taken bytes, or the stream has ended.
    mutating func ended(_ count: Int, on stream: HTTP2StreamID) {
        bytes -= count
        taken += count
        guard let rest = waiting[stream] else { return }
        waiting[stream] = rest > count ? rest - count : nil
    }
}

/// Cached responses of a connection, as ``ResponseCacheHandler`` sends those of HTTP/1.1.
extension HTTP2ConnectionHandler {
    enum CacheOutcome { case served, postponed, missed }

    /// Responds to a request if its response is cached.
    func respond(to frame: HTTP2Frame, _ block: HPACKHeaders, _ context: ChannelHandlerContext) -> CacheOutcome {
        guard let cache, let head = HTTP2RequestHead(block).cacheKey,
            head.readableBytes <= limits.headerBytes
        else { return .missed }
        let now = context.eventLoop.now
        guard let (response, place) = cache.find(head, now: now) else { return .missed }
        guard share.begins(.cachedResponse, now: now, otherwise: { self.resume() }) else { return .postponed }
        date.update(now: now)
        let identity = cache.identities.identity(of: head)
        requests.note(head, on: Int(frame.streamID), at: place, now: now)
        send(response, response.block(date: date, requestID: identity, now: now), on: frame.streamID, context)
        response.record.note(
            .nanoseconds((context.eventLoop.now - now).nanoseconds),
            requestID: identity,
            traceID: SignificantHead.traceID(of: head),
            logger: cache.logger
        )
        cache.hits.increment()
        share.sent(responses: 1, bytes: response.size)
        return .served
    }

    private func send(
        _ response: CachedBytes,
        _ block: HPACKHeaders,
        on stream: HTTP2StreamID,
        _ context: ChannelHandlerContext
    ) {
        var body = response.body
        let head = HTTP2Frame(
            streamID: stream,
            payload: .headers(.init(headers: block, endStream: body.readableBytes == 0))
        )
        context.write(Self.wrapOutboundOut(head), promise: nil)
        while let piece = body.readSlice(length: min(body.readableBytes, HTTP2StreamHandler.frameBytes)),
            piece.readableBytes > 0
        {
            let count = piece.readableBytes
            cachedWrites.wrote(count, on: stream, now: context.eventLoop.now)
            open.hold(count)
            let taken = context.eventLoop.makePromise(of: Void.self)
            taken.futureResult.assumeIsolated().whenComplete { _ in
                self.cachedWrites.ended(count, on: stream)
                self.open.hold(-count)
            }
            let data = HTTP2Frame.FramePayload.Data(data: .byteBuffer(piece), endStream: body.readableBytes == 0)
            context.write(Self.wrapOutboundOut(HTTP2Frame(streamID: stream, payload: .data(data))), promise: taken)
        }
        watchWrites(context)
    }

    /// A stream was responded to ahead of NIO.
    func served(_ stream: Int, now: NIODeadline) { state.served(HTTP2StreamID(stream), now: now) }

    /// Watches whether the client takes what was sent ahead of NIO.
    func watchWrites() {
        if let context { watchWrites(context) }
    }

    /// Ends the streams of cached responses if the client has taken nothing of them for long.
    func resetStalled(_ context: ChannelHandlerContext) {
        let (taken, waiting) = (cachedWrites.taken, cachedWrites.bytes)
        guard cachedWrites.stalled.isStalled(taken: taken, waiting: waiting, now: context.eventLoop.now) else { return }
        cachedWrites.stalled = StalledWriteDetector(deadline: TimeAmount(limits.writeDeadline))
        for stream in cachedWrites.waiting.keys {
            reports.onAbruptClose(.writeStalled)
            let reset = HTTP2Frame(streamID: stream, payload: .rstStream(.cancel))
            context.write(Self.wrapOutboundOut(reset), promise: nil)
        }
        context.flush()
    }
}
