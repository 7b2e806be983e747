import CoreMetrics
import NIOCore

/// Responds to repeated requests of an HTTP/2 connection in place of NIO, which neither decodes their header blocks nor
/// makes streams of them. A block with the bytes of one that NIO has decoded is the same request. The handler is
/// nearest to the socket, passes everything else on unchanged, and counts the bytes of the connection. See
/// docs/decisions/0139.
///
/// ``HTTP2FrameRules`` and ``HTTP2RepeatedRequests`` decide which requests it may respond to, the amount is bounded by
/// ``HTTP2ConnectionHandler`` and the slots of its client.
final class HTTP2RepeatHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    let cache: ResponseCache?
    let connection: HTTP2ConnectionHandler
    let requests: HTTP2RepeatedRequests
    let written: HTTP2WrittenFrames

    private var division = HTTP2FrameDivision()
    var rules = HTTP2FrameRules()
    /// Bytes that have arrived and are not passed on yet.
    private(set) var input = ByteBuffer()
    /// Bytes of it that are to be passed on.
    private(set) var looked = 0
    private var isProcessing = false
    private var hasMore = false
    private var hasPassed = false
    private var isGivingLater = false
    private var isClosed = false

    var date = ServerDate()
    /// Responses that are not written yet.
    var output: ByteBuffer?
    /// Bytes of responses that are written, and not flushed.
    var unflushed = 0
    /// Responses since the last read was complete.
    var served = 0

    init(
        _ cache: ResponseCache?,
        connection: HTTP2ConnectionHandler,
        requests: HTTP2RepeatedRequests,
        written: HTTP2WrittenFrames
    ) {
        self.cache = cache
        self.connection = connection
        self.requests = requests
        self.written = written
    }

    func handlerRemoved(context: ChannelHandlerContext) { isClosed = true }

    func channelInactive(context: ChannelHandlerContext) {
        isClosed = true
        context.fireChannelInactive()
    }

    // MARK: Frames of the client

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        connection.counter.received += bytes.readableBytes
        if input.readableBytes == 0 { input = bytes } else { input.writeBuffer(&bytes) }
        hasMore = true
        // Bytes that are read within a write of this handler are processed after the current ones.
        guard !isProcessing else { return }
        isProcessing = true
        while hasMore, !isClosed {
            hasMore = false
            process(context)
        }
        isProcessing = false
        if input.readableBytes == 0 { input = ByteBuffer() }
    }

    private func process(_ context: ChannelHandlerContext) {
        var isWhole = true
        while isWhole, !isClosed {
            switch input.withUnsafeReadableBytes({ division.next(UnsafeRawBufferPointer(rebasing: $0[looked...])) }) {
            case .incomplete: isWhole = false
            case .rest(let count): looked += count
            case .begun(let head, let count): begin(head, count, context)
            case .whole(let head): look(at: head, context)
            }
        }
        pass(context)
        give(context, isLast: false)
        send(context)
    }

    /// Processes a frame that is passed on as it arrives.
    private func begin(_ head: HTTP2FrameHead, _ count: Int, _ context: ChannelHandlerContext) {
        if head.kind == .headers { requests.forget() }
        // No client has so many.
        guard head.kind != .settings else { return end(context) }
        let verdict = rules.judge(head, nil, written: written.data, now: context.eventLoop.now)
        // Nothing can be put in before its end.
        if !division.isAtBoundary || rules.isOff { give(context, isLast: true) }
        if verdict == .refuse { refuse(head, count, context) } else { looked += count }
    }

    /// Processes a frame that has arrived as a whole.
    private func look(at head: HTTP2FrameHead, _ context: ChannelHandlerContext) {
        let count = HTTP2FrameHead.size + head.length
        var block: Range<Int>?
        if head.kind == .headers {
            pass(context)
            block = self.block(of: head)
            if let block, serve(block, of: head, context) { return input.moveReaderIndex(forwardBy: count) }
        }
        if head.kind == .settings {
            pass(context)
            guard !isTooNarrow(head) else { return end(context) }
        }
        let verdict = input.withUnsafeReadableBytes { bytes in
            let payload = UnsafeRawBufferPointer(rebasing: bytes[looked + HTTP2FrameHead.size..<looked + count])
            return rules.judge(head, payload, written: written.data, now: context.eventLoop.now)
        }
        if rules.isOff { give(context, isLast: true) }
        if head.kind == .settings { limitTable(head) }
        switch verdict {
        case .refuse:
            refuse(head, count, context)
        case .drop:
            pass(context)
            input.moveReaderIndex(forwardBy: count)
        case .pass where head.kind == .headers:
            passRequest(head, block, count, context)
        case .pass:
            looked += count
        }
    }

    /// Whether settings make the windows of open streams smaller.
    private func isTooNarrow(_ head: HTTP2FrameHead) -> Bool {
        guard connection.hasStreams else { return false }
        return input.withUnsafeReadableBytes { bytes in
            let payload = bytes[HTTP2FrameHead.size..<HTTP2FrameHead.size + head.length]
            return rules.narrowsStreams(head, UnsafeRawBufferPointer(rebasing: payload))
        }
    }

    /// Makes the table that a client offers to the encoder no larger than it may be (RFC 7541 §4.2).
    private func limitTable(_ head: HTTP2FrameHead) {
        let payload = input.readerIndex + looked + HTTP2FrameHead.size
        for setting in stride(from: payload, to: payload + head.length - 5, by: 6)
        where input.getInteger(at: setting, as: UInt16.self) == 1 {
            let size = input.getInteger(at: setting + 2, as: UInt32.self) ?? 0
            input.setInteger(min(size, UInt32(HeaderBlock.tableSize)), at: setting + 2)
        }
    }

    /// Ends a connection that NIO does not survive.
    private func end(_ context: ChannelHandlerContext) {
        isClosed = true
        connection.reports.onAbruptClose(.http2)
        context.close(promise: nil)
    }

    /// Returns where in the input the header block of a frame is that begins there; nil if it is not plain.
    private func block(of head: HTTP2FrameHead) -> Range<Int>? {
        guard head.flags & HTTP2FrameHead.padded == 0 else { return nil }
        let end = HTTP2FrameHead.size + head.length
        guard head.flags & HTTP2FrameHead.priority != 0 else { return HTTP2FrameHead.size..<end }
        let dependency = input.withUnsafeReadableBytes { bytes in
            head.length < 5 ? head.stream : HTTP2FrameHead.integer(bytes, at: HTTP2FrameHead.size)
        }
        // A stream that depends on itself is an error (RFC 7540 §5.3.1).
        return dependency == head.stream ? nil : HTTP2FrameHead.size + 5..<end
    }

    /// Passes a header block on, alone, so that it is known which one is responded to.
    private func passRequest(
        _ head: HTTP2FrameHead,
        _ range: Range<Int>?,
        _ count: Int,
        _ context: ChannelHandlerContext
    ) {
        looked += count
        let block = range.flatMap { input.getSlice(at: input.readerIndex + $0.lowerBound, length: $0.count) }
        guard let block, block.withUnsafeReadableBytes(HeaderBlock.leavesTable) else { return requests.forget() }
        guard head.flags & HTTP2FrameHead.endStream != 0 else { return }
        requests.offer((stream: head.stream, block: block))
        pass(context)
        requests.offer(nil)
    }

    // MARK: Input of NIO

    /// Passes on the inspected bytes.
    func pass(_ context: ChannelHandlerContext) {
        guard looked > 0, let bytes = input.readSlice(length: looked) else { return }
        looked = 0
        // The client may count from the frames that NIO writes now, such as an acknowledgement.
        send(context)
        passOn(bytes, context)
    }

    private func refuse(_ head: HTTP2FrameHead, _ count: Int, _ context: ChannelHandlerContext) {
        pass(context)
        guard var frame = input.readSlice(length: count) else { return }
        // HEADERS without a stream are an error of the connection (RFC 9113 §6.2).
        frame.setInteger(head.flags | HTTP2FrameHead.endHeaders, at: frame.readerIndex + 4)
        frame.setInteger(UInt32(0), at: frame.readerIndex + 5)
        passOn(frame, context)
    }

    private func passOn(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        hasPassed = true
        context.fireChannelRead(Self.wrapInboundOut(bytes))
    }

    /// Gives NIO its share of the connection's window.
    ///
    /// - Parameter isLast: Whether it cannot be given more for an unknown time.
    private func give(_ context: ChannelHandlerContext, isLast: Bool) {
        let count = rules.give(written: written.data, isLast: isLast)
        guard count > 0, !isClosed else { return }
        pass(context)
        var frame = ByteBuffer()
        frame.writeMultipleIntegers(UInt32(4 << 8) | UInt32(HTTP2FrameHead.Kind.windowUpdate.rawValue), UInt8(0))
        frame.writeMultipleIntegers(UInt32(0), UInt32(count))
        passOn(frame, context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        completeRead(context)
        flushResponses(context)
    }

    private func completeRead(_ context: ChannelHandlerContext) {
        // NIO has seen nothing of a read that was all repeated requests.
        guard hasPassed else { return }
        hasPassed = false
        context.fireChannelReadComplete()
    }

    // MARK: Output of NIO

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        connection.counter.sent += Self.unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        unflushed = 0
        context.flush()
        giveLater(context)
    }

    /// NIO may have spent its share while it wrote, and cannot be given more within that.
    private func giveLater(_ context: ChannelHandlerContext) {
        guard !isGivingLater, rules.window.due(written: written.data) > 0 else { return }
        isGivingLater = true
        context.eventLoop.assumeIsolated().execute {
            self.isGivingLater = false
            self.give(context, isLast: false)
            self.completeRead(context)
        }
    }
}

/// Cached responses to repeated requests, as those that ``HTTP2ConnectionHandler`` sends.
extension HTTP2RepeatHandler {
    /// Responses are written together up to this many bytes.
    private static let batchBytes = 32 << 10
    /// Bytes after which it is seen whether the client takes them.
    private static let quantumBytes = 64 << 10

    /// Responds to a request that the input begins with, if it is repeated and its response cached.
    ///
    /// - Parameter range: Where its header block is.
    func serve(_ range: Range<Int>, of head: HTTP2FrameHead, _ context: ChannelHandlerContext) -> Bool {
        guard let cache, head.isWholeRequest, connection.servesRepeated, rules.mayServe(head.stream, written) else {
            return false
        }
        let now = context.eventLoop.now
        let location = input.withUnsafeReadableBytes { bytes in
            requests.location(of: UnsafeRawBufferPointer(rebasing: bytes[range]), now: now)
        }
        guard let location, let response = cache.response(at: location, now: now),
            rules.fits(response.body.readableBytes), context.channel.isWritable
        else { return false }
        let block = response.block
        guard block.isComplete, connection.share.begins(.cachedResponse, now: now) else { return false }
        rules.served(head.stream, bytes: response.body.readableBytes)
        connection.served(head.stream, now: now)
        let identity = cache.identities.identity(harmless: nil)
        date.update(now: now)
        let isLast = input.readableBytes == HTTP2FrameHead.size + head.length
        append(response, block, identity, on: head.stream, isLast: isLast, now: now, context)
        response.record.note(
            .nanoseconds((context.eventLoop.now - now).nanoseconds),
            requestID: identity,
            // A request of a trace is not repeated.
            traceID: nil,
            logger: cache.logger
        )
        connection.share.sent(responses: 1, bytes: response.size)
        served += 1
        return true
    }

    private func append(
        _ response: CachedBytes,
        _ block: CachedBlock,
        _ identity: RequestIdentity,
        on stream: Int,
        isLast: Bool,
        now: NIODeadline,
        _ context: ChannelHandlerContext
    ) {
        let size = response.framesSize(block)
        var buffer = output ?? context.channel.allocator.buffer(capacity: size + (isLast ? 0 : Self.batchBytes))
        output = nil
        response.writeFrames(block, to: &buffer, stream: stream, date: date, requestID: identity, now: now)
        let isFull = buffer.readableBytes >= Self.batchBytes
        output = buffer
        if isFull { send(context) }
        guard unflushed >= Self.quantumBytes else { return }
        unflushed = 0
        context.flush()
    }

    /// Writes the responses.
    func send(_ context: ChannelHandlerContext) {
        guard let bytes = output else { return }
        output = nil
        unflushed += bytes.readableBytes
        connection.counter.sent += bytes.readableBytes
        context.write(Self.wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
    }

    /// Sends the responses of a read.
    func flushResponses(_ context: ChannelHandlerContext) {
        send(context)
        if unflushed > 0 {
            unflushed = 0
            context.flush()
        }
        guard served > 0 else { return }
        cache?.hits.increment(by: served)
        served = 0
        connection.watchWrites()
    }
}

extension HTTP2FrameHead {
    /// Whether a HEADERS frame is a whole request.
    fileprivate var isWholeRequest: Bool {
        flags & ~Self.priority == Self.endStream | Self.endHeaders
    }
}
