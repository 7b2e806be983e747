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

    let cache: ResponseCache
    let connection: ConnectionHandler
    private var boundary = RequestBoundary()
    var date = ServerDate()
    private(set) var context: ChannelHandlerContext?
    private var hasPassed = false
    /// Whether it requests each read, and not the channel: that would ask all handlers again after each hit.
    private var isReader = false
    var repeated = RepeatedHead()
    /// What waits for the next turn, or until the client takes bytes.
    var postponed = PostponedInput()

    /// The head that is being passed on, if its response may be recorded.
    var candidate: ByteBuffer?
    private var recording: ResponseRecording

    init(_ cache: ResponseCache, connection: ConnectionHandler) {
        self.cache = cache
        self.connection = connection
        recording = ResponseRecording(cache)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connection.observer = self
        takeReading(context)
    }

    /// Requests reads from now on, in place of a channel that has not begun to.
    private func takeReading(_ context: ChannelHandlerContext) {
        guard !context.channel.isActive, let options = context.channel.syncOptions else { return }
        do {
            try options.setOption(.autoRead, value: false)
            isReader = true
        } catch {
            // A channel without this option requests its reads.
        }
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
        if stretch.hasHugeChunk { return connection.refuseHugeChunk() }
        if candidate?.readableBytes != stretch.count { candidate = nil }
        let before = connection.decoded
        context.fireChannelRead(Self.wrapInboundOut(piece))
        boundary.passed(stretch, before: before, after: connection.decoded)
        // What waits for its turn begins later; nothing is passed on before.
        if !connection.state.isTurnAwaited { candidate = nil }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        let isSeen = hasPassed
        completeRead(context)
        guard isReader else { return }
        // After a read that was all hits the others wait for what they had requested before it.
        if isSeen { context.channel.read() } else { read(context: context) }
    }

    func completeRead(_ context: ChannelHandlerContext) {
        // No later handler has seen a read that was all hits.
        guard hasPassed else { return }
        hasPassed = false
        context.fireChannelReadComplete()
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        if isReader { context.channel.read() }
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
