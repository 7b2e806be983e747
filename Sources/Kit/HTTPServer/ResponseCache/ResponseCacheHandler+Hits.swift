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
    }

    /// Responds to as many heads as are cached.
    /// - Returns: whether it is the turn of other connections, or the client has to take bytes first
    func serve(from bytes: inout ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        let start = context.eventLoop.now
        var batch: ByteBuffer?
        var (served, taken, written) = (0, 0, 0)
        candidate = nil
        while connection.isAtRest, written < Self.turnBytes, let hit = hit(in: bytes, now: start) {
            let (response, length) = (hit.response, hit.head.readableBytes)
            bytes.moveReaderIndex(forwardBy: length)
            connection.counter.received += length
            taken += length
            served += 1
            written += response.size
            let identity = cache.identities.identity(harmless: hit.wantedID)
            date.update(now: start)
            var buffer = batch ?? context.channel.allocator.buffer(capacity: response.size)
            batch = nil
            response.write(to: &buffer, date: date, requestID: identity, now: start)
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
        guard length <= connection.limits.headerBytes, let (response, place) = cache.find(head, now: now) else {
            candidate = head
            return nil
        }
        let wantedID = RequestIdentities.wanted(in: head)
        repeated.note(head, at: place, wantedID: wantedID)
        return Hit(head: head, wantedID: wantedID, response: response)
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
