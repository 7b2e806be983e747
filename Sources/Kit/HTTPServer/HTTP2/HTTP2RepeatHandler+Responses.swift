import CoreMetrics
import NIOCore

/// Cached responses to repeated requests, as those that ``HTTP2ConnectionHandler`` sends.
extension HTTP2RepeatHandler {
    /// Responses are written together up to this many bytes.
    private static let batchBytes = 32 << 10
    /// Bytes after which it is seen whether the client takes them.
    private static let turnBytes = 64 << 10

    /// Responds to a request that the input begins with, if it is repeated and its response cached.
    ///
    /// - Parameter range: Where its header block is.
    func serve(_ range: Range<Int>, of head: HTTP2FrameHead, _ context: ChannelHandlerContext) -> Bool {
        guard let cache, head.isWholeRequest, connection.servesRepeated, rules.mayServe(head.stream, written) else {
            return false
        }
        let now = context.eventLoop.now
        let place = input.withUnsafeReadableBytes { bytes in
            requests.place(of: UnsafeRawBufferPointer(rebasing: bytes[range]), now: now)
        }
        guard let place, let response = cache.response(at: place, now: now),
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
        guard unflushed >= Self.turnBytes else { return }
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
