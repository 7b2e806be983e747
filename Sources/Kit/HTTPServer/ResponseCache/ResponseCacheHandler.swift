import CoreMetrics
import NIOCore
import NIOHTTP1

/// Sends cached responses on the event loop, ahead of the decoder: a head with the bytes of one that was parsed,
/// authorised and responded to is not parsed again while that response is valid.
///
/// It acts only while the connection is at rest, and passes everything else on as it arrived, so a request that misses
/// waits for the application in order. It records the response to a head that arrived alone: the bytes of both, and the
/// application's annotations.
final class ResponseCacheHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Responses to pipelined heads are written together up to this many bytes; then it is checked whether the client
    /// takes them.
    private static let batchBytes = 32 << 10
    /// Bytes that one connection is sent in one turn of the event loop; then the others have theirs.
    private static let turnBytes = 64 << 10

    private let cache: ResponseCache
    let connection: ConnectionHandler
    private var boundary = RequestBoundary()
    private var date = ServerDate()
    private(set) var context: ChannelHandlerContext?
    private var hasPassed = false
    /// What waits for the next turn, or until the client takes bytes.
    var postponed = PostponedInput()

    /// The head that is being passed on, if its response may be recorded.
    private var candidate: ByteBuffer?
    private var recording: ResponseRecording

    init(_ cache: ResponseCache, connection: ConnectionHandler) {
        self.cache = cache
        self.connection = connection
        recording = ResponseRecording(cache)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connection.observer = self
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        connection.observer = nil
        self.context = nil
    }

    // MARK: Hits

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        if postponed.append(bytes) { return }
        process(bytes, context)
    }

    /// Responds to what is cached, and passes the rest on.
    func process(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        var bytes = bytes
        while bytes.readableBytes > 0 {
            if boundary.isAtStart, connection.holdsRequests {
                postponed.bytes = bytes
                return
            }
            if boundary.isAtStart, connection.isAtRest {
                guard begins(bytes, context) else { return }
                let isTurnOver = serve(from: &bytes, context)
                if bytes.readableBytes == 0 { return }
                if isTurnOver { return postpone(bytes, context) }
            }
            pass(from: &bytes, context)
        }
    }

    /// Responds to as many heads as are cached.
    /// - Returns: whether it is the turn of other connections, or the client has to take bytes first
    private func serve(from bytes: inout ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        let start = context.eventLoop.now
        var batch: ByteBuffer?
        var (served, taken, written) = (0, 0, 0)
        candidate = nil
        while connection.isAtRest, written < Self.turnBytes,
            let length = bytes.withUnsafeReadableBytes(ResponseCacheKey.headLength),
            let head = bytes.getSlice(at: bytes.readerIndex, length: length)
        {
            // A head beyond the limit is for the router to refuse, whatever of it the response depends on.
            guard length <= connection.limits.headerBytes, let response = cache.response(to: head, now: start) else {
                candidate = head
                break
            }
            bytes.moveReaderIndex(forwardBy: length)
            connection.counter.received += length
            taken += length
            served += 1
            written += response.size
            let identity = cache.identities.identity(of: head)
            date.update(now: start)
            var buffer = batch ?? context.channel.allocator.buffer(capacity: response.size)
            batch = nil
            response.write(to: &buffer, date: date, requestID: identity, now: start)
            response.record.note(
                start.duration(to: context.eventLoop.now),
                requestID: identity,
                traceID: SignificantHead.traceID(of: head),
                logger: cache.logger
            )
            if bytes.readableBytes == 0 || buffer.readableBytes >= Self.batchBytes {
                send(buffer, context)
            } else {
                batch = buffer
            }
        }
        guard served > 0 else { return false }
        if let batch { send(batch, context) }
        let isTurnOver = written >= Self.turnBytes || !connection.isAtRest
        context.flush()
        cache.hits.increment(by: served)
        connection.share.sent(responses: served, bytes: written)
        connection.servedFromCache(bytes: taken, now: start)
        return isTurnOver && candidate == nil
    }

    private func send(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        connection.counter.sent += bytes.readableBytes
        context.write(Self.wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
    }

    // MARK: Misses

    /// Passes on up to the next position where a request may begin.
    private func pass(from bytes: inout ByteBuffer, _ context: ChannelHandlerContext) {
        hasPassed = true
        let isStart = boundary.isAtStart
        let stretch = bytes.withUnsafeReadableBytes { boundary.stretch(of: $0) }
        if isStart, !stretch.endsHead { connection.share.count(.longHead) }
        connection.share.decoded(bytes: stretch.count)
        guard let piece = bytes.readSlice(length: stretch.count) else { return }
        connection.counter.received += stretch.count
        if candidate?.readableBytes != stretch.count { candidate = nil }
        let before = connection.decoded
        context.fireChannelRead(Self.wrapInboundOut(piece))
        boundary.passed(stretch, before: before, after: connection.decoded)
        // What waits for its turn begins later; nothing is passed on before.
        if !connection.state.isTurnAwaited { candidate = nil }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        completeRead(context)
    }

    func completeRead(_ context: ChannelHandlerContext) {
        // No later handler has seen a read that was all hits.
        guard hasPassed else { return }
        hasPassed = false
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let piece = Self.unwrapOutboundIn(data)
        connection.counter.sent += piece.readableBytes
        if recording.isCapturing {
            if case .byteBuffer(let bytes) = piece { recording.append(bytes) } else { recording.abandon() }
            if !recording.isCapturing { resumeLater() }
        }
        context.write(data, promise: promise)
    }
}

// MARK: Recording

extension ResponseCacheHandler: ExchangeObserver {
    func requestBegins(_ head: HTTPRequestHead) {
        recording.begin(head, bytes: candidate)
        candidate = nil
    }

    func responseBegins(_ annotations: ResponseAnnotations.Values) { recording.responseBegins(annotations) }

    func responseEnded(now: NIODeadline) {
        recording.end(now: now)
        resumeLater()
    }

    func responseAbandoned() {
        recording.abandon()
        resumeLater()
    }
}

extension NIODeadline {
    /// Returns the duration from this instant to a later one.
    fileprivate func duration(to later: NIODeadline) -> Duration { .nanoseconds((later - self).nanoseconds) }
}
