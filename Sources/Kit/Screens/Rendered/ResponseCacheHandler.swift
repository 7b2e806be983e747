import CoreMetrics
import NIOCore
import NIOHTTP1

/// Gives cached responses on the event loop, ahead of the decoder: a head whose bytes were parsed, authorised and answered
/// before is not parsed again while that response holds.
///
/// It acts only while the connection is at rest, and passes everything else on as it came, so whatever it does not
/// answer waits for the router in order. It learns from what the router answers to a head that came alone: the head's
/// bytes, the response's bytes, and the router's note on them (``ResponseCache/mark``).
final class ResponseCacheHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Answers to pipelined heads go out together up to so many bytes; then it is looked whether the client takes them.
    private static let batchBytes = 32 << 10

    private let responses: ResponseCache
    private let connection: ConnectionHandler
    private var boundary = RequestBoundary()
    private var date = ServerDate()
    private var hasPassed = false

    /// The head that is being passed on, if its response may be learnt; then the one that is being answered.
    private var candidate: ByteBuffer?
    private var learning: ByteBuffer?
    private var capture: (bytes: ByteBuffer, note: CacheTicketNote)?

    init(responses: ResponseCache, connection: ConnectionHandler) {
        self.responses = responses
        self.connection = connection
    }

    func handlerAdded(context: ChannelHandlerContext) { connection.rendered = self }
    func handlerRemoved(context: ChannelHandlerContext) { connection.rendered = nil }

    // MARK: Giving

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        connection.meter.received += bytes.readableBytes
        while bytes.readableBytes > 0 {
            if boundary.isAtStart, connection.isAtRest {
                give(from: &bytes, context)
                if bytes.readableBytes == 0 { return }
            }
            pass(from: &bytes, context)
        }
    }

    /// Answers as many heads as it can.
    private func give(from bytes: inout ByteBuffer, _ context: ChannelHandlerContext) {
        let start = context.eventLoop.now
        var batch: ByteBuffer?
        var (given, taken) = (0, 0)
        candidate = nil
        while connection.isAtRest, let length = bytes.withUnsafeReadableBytes(ResponseCacheKey.headLength),
            let head = bytes.getSlice(at: bytes.readerIndex, length: length)
        {
            guard let response = responses.response(to: head, now: start) else {
                candidate = head
                break
            }
            bytes.moveReaderIndex(forwardBy: length)
            taken += length
            given += 1
            let number = responses.identities.next()
            date.update(now: start)
            var buffer = batch ?? context.channel.allocator.buffer(capacity: response.size)
            batch = nil
            response.write(to: &buffer, date: date, requestID: number, now: start)
            response.record.note(start.duration(to: context.eventLoop.now), requestID: number, logger: responses.logger)
            if bytes.readableBytes == 0 || buffer.readableBytes >= Self.batchBytes {
                send(buffer, context)
            } else {
                batch = buffer
            }
        }
        guard given > 0 else { return }
        if let batch { send(batch, context) }
        context.flush()
        responses.hits.increment(by: given)
        connection.servedFromCache(bytes: taken, now: start)
    }

    private func send(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        connection.meter.sent += bytes.readableBytes
        context.write(Self.wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
    }

    // MARK: Passing on

    /// Passes on up to the next place where a request may begin.
    private func pass(from bytes: inout ByteBuffer, _ context: ChannelHandlerContext) {
        hasPassed = true
        let stretch = bytes.withUnsafeReadableBytes { boundary.stretch(of: $0) }
        guard let piece = bytes.readSlice(length: stretch.count) else { return }
        if candidate?.readableBytes != stretch.count { candidate = nil }
        let before = connection.decoded
        context.fireChannelRead(Self.wrapInboundOut(piece))
        boundary.passed(stretch, before: before, after: connection.decoded)
        candidate = nil
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Nobody behind has seen anything of this read.
        guard hasPassed else { return }
        hasPassed = false
        context.fireChannelReadComplete()
    }

    // MARK: Learning

    /// A request goes inward.
    func requestBegins(_ head: HTTPRequestHead) {
        learning = candidate.flatMap { ResponseCacheKey.isEligible(head, bytes: $0) ? $0 : nil }
        candidate = nil
        capture = nil
    }

    /// The head of its response comes next; nothing but the response is written until it ends.
    func responseBegins(mark: String) {
        guard let note = responses.claim(mark), learning != nil else { return }
        capture = (ByteBuffer(), note)
    }

    /// Its response has been written, and the connection lives on.
    func responseEnded(now: NIODeadline) {
        if let capture, let learning { responses.keep(capture.bytes, note: capture.note, for: learning, now: now) }
        responseAbandoned()
    }

    /// Its response is none to be given again.
    func responseAbandoned() {
        capture = nil
        learning = nil
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let piece = Self.unwrapOutboundIn(data)
        connection.meter.sent += piece.readableBytes
        if capture != nil { note(piece) }
        context.write(data, promise: promise)
    }

    private func note(_ data: IOData) {
        guard case .byteBuffer(var bytes) = data, let count = capture?.bytes.readableBytes,
            count + bytes.readableBytes <= ResponseCache.largest
        else {
            return responseAbandoned()
        }
        capture?.bytes.writeBuffer(&bytes)
    }
}

extension NIODeadline {
    /// The span from this instant to a later one.
    fileprivate func duration(to later: NIODeadline) -> Duration { .nanoseconds((later - self).nanoseconds) }
}
