import CoreMetrics
import NIOCore

/// Responses that are cached, written on the event loop.
extension ResponseCacheHandler {
    /// Responses to pipelined heads are written together up to this many bytes; then it is checked whether the client
    /// takes them.
    private static let batchBytes = 32 << 10
    /// Bytes that one connection is sent in one turn of the event loop; then the others have theirs.
    private static let turnBytes = 64 << 10

    /// A request whose response is cached.
    private struct Hit {
        let head: ByteBuffer
        let wantedID: String?
        let response: CachedBytes
        /// Whether the client wants no further response.
        var isLast = false
    }

    /// Responds to as many heads as are cached.
    /// - Returns: whether it is the turn of other connections, or the client has to take bytes first
    func serve(from bytes: inout ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        let start = context.eventLoop.now
        var batch: ByteBuffer?
        var (served, taken, written) = (0, 0, 0)
        var isLast = false
        candidate = nil
        while !isLast, connection.isAtRest, written < Self.turnBytes, let hit = hit(in: bytes, now: start) {
            let (response, length) = (hit.response, hit.head.readableBytes)
            bytes.moveReaderIndex(forwardBy: length)
            connection.counter.received += length
            taken += length
            served += 1
            written += response.size
            isLast = hit.isLast
            let identity = cache.identities.identity(harmless: hit.wantedID)
            date.update(now: start)
            var buffer = batch ?? context.channel.allocator.buffer(capacity: response.size)
            batch = nil
            response.write(to: &buffer, date: date, requestID: identity, now: start, isLast: isLast)
            response.record.note(
                start.duration(to: context.eventLoop.now),
                requestID: identity,
                traceID: SignificantHead.traceID(of: hit.head),
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
        if isLast {
            // Nothing behind it gets a response.
            bytes.moveReaderIndex(to: bytes.writerIndex)
            connection.servedLastFromCache()
            return false
        }
        return isTurnOver && candidate == nil
    }

    /// Returns the hit that these bytes begin with; a head without one is kept as the candidate.
    private func hit(in bytes: ByteBuffer, now: NIODeadline) -> Hit? {
        if let place = repeated.place(in: bytes), let response = cache.response(at: place, now: now) {
            return Hit(head: repeated.bytes, wantedID: repeated.wantedID, response: response)
        }
        guard let length = bytes.withUnsafeReadableBytes(ResponseCacheKey.headLength),
            let head = bytes.getSlice(at: bytes.readerIndex, length: length)
        else { return nil }
        // A head beyond the limit is for the router to refuse, whatever of it the response depends on.
        let isWithin = length <= connection.limits.headerBytes
        if isWithin, let (response, place) = cache.find(head, now: now) {
            let wantedID = RequestIdentities.wanted(in: head)
            repeated.note(head, at: place, wantedID: wantedID)
            return Hit(head: head, wantedID: wantedID, response: response)
        }
        if isWithin, let rest = ClosingHead(head)?.rest, let response = cache.response(to: rest, now: now) {
            return Hit(head: head, wantedID: RequestIdentities.wanted(in: head), response: response, isLast: true)
        }
        candidate = head
        return nil
    }

    private func send(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        connection.counter.sent += bytes.readableBytes
        context.write(Self.wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
    }
}

extension NIODeadline {
    /// Returns the duration from this instant to a later one.
    fileprivate func duration(to later: NIODeadline) -> Duration { .nanoseconds((later - self).nanoseconds) }
}
