import CoreMetrics
import NIOCore
import NIOHTTP1

/// Sends cached responses on the event loop, ahead of the decoder. A head with the bytes of one that was parsed,
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
    /// Input that waits for the next slot, or until the client takes bytes.
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

    /// Responds to requests with a cached response, and passes the rest on.
    func process(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        var bytes = bytes
        while bytes.readableBytes > 0 {
            if boundary.isAtStart, connection.holdsRequests {
                postponed.bytes = bytes
                return
            }
            if boundary.isAtStart, connection.isAtRest {
                guard begins(bytes, context) else { return }
                let isQuantumSpent = serve(from: &bytes, context)
                if bytes.readableBytes == 0 { return }
                if isQuantumSpent { return postpone(bytes, context) }
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
        // A request that waits for a slot begins later; nothing is passed on before.
        if !connection.state.isSlotAwaited { candidate = nil }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        let isSeen = hasPassed
        completeRead(context)
        guard isReader else { return }
        // After a read that was all hits the other handlers wait for the read that they had requested before.
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

/// Responses that are cached, written on the event loop.
extension ResponseCacheHandler {
    /// Responses to pipelined heads are written together up to this many bytes; then it is checked whether the client
    /// takes them.
    private static let batchBytes = 32 << 10
    /// Bytes that one connection is sent in one quantum; then the others have theirs.
    private static let quantumBytes = 64 << 10

    /// A request whose response is cached.
    private struct Hit {
        let head: ByteBuffer
        let wantedID: String?
        let response: CachedBytes
        /// Whether the client expects no further response.
        var isLast = false
    }

    /// Responds to as many heads as are cached.
    /// - Returns: whether the quantum of the connection is spent, or the client has to take bytes first
    func serve(from bytes: inout ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        let start = context.eventLoop.now
        var batch: ByteBuffer?
        var (served, taken, written) = (0, 0, 0)
        var isLast = false
        candidate = nil
        while !isLast, connection.isAtRest, written < Self.quantumBytes, let hit = hit(in: bytes, now: start) {
            let (response, length) = (hit.response, hit.head.readableBytes)
            bytes.moveReaderIndex(forwardBy: length)
            connection.counter.received += length
            taken += length
            served += 1
            written += response.size
            isLast = hit.isLast
            var buffer = batch ?? context.channel.allocator.buffer(capacity: response.size)
            batch = nil
            write(hit, to: &buffer, since: start, context)
            if bytes.readableBytes == 0 || buffer.readableBytes >= Self.batchBytes {
                send(buffer, context)
            } else {
                batch = buffer
            }
        }
        guard served > 0 else { return false }
        if let batch { send(batch, context) }
        let isQuantumSpent = written >= Self.quantumBytes || !connection.isAtRest
        context.flush()
        cache.hits.increment(by: served)
        connection.share.sent(responses: served, bytes: written)
        connection.servedFromCache(bytes: taken, now: start)
        if isLast {
            // Nothing after it gets a response.
            bytes.moveReaderIndex(to: bytes.writerIndex)
            connection.servedLastFromCache()
            return false
        }
        return isQuantumSpent && candidate == nil
    }

    /// Writes the response to a request, and records it.
    private func write(
        _ hit: Hit,
        to buffer: inout ByteBuffer,
        since start: NIODeadline,
        _ context: ChannelHandlerContext
    ) {
        let identity = cache.identities.identity(harmless: hit.wantedID)
        date.update(now: start)
        hit.response.write(to: &buffer, date: date, requestID: identity, now: start, isLast: hit.isLast)
        hit.response.record.note(
            start.duration(to: context.eventLoop.now),
            requestID: identity,
            traceID: SignificantHead.traceID(of: hit.head),
            logger: cache.logger
        )
    }

    /// Returns the hit that these bytes begin with; a head without one is kept as the candidate.
    private func hit(in bytes: ByteBuffer, now: NIODeadline) -> Hit? {
        if let location = repeated.location(in: bytes), let response = cache.response(at: location, now: now) {
            return Hit(head: repeated.bytes, wantedID: repeated.wantedID, response: response)
        }
        guard let length = bytes.withUnsafeReadableBytes(ResponseCacheKey.headLength),
            let head = bytes.getSlice(at: bytes.readerIndex, length: length)
        else { return nil }
        // A head beyond the limit is for the router to refuse, whatever of it the response depends on.
        let isWithin = length <= connection.limits.headerBytes
        if isWithin, let (response, location) = cache.find(head, now: now) {
            let wantedID = RequestIdentities.wanted(in: head)
            repeated.note(head, at: location, wantedID: wantedID)
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

/// Requests that a client has pipelined beyond the quantum of its connection.
struct PostponedInput {
    var bytes: ByteBuffer?
    /// The client has closed its output after these bytes.
    var isInputClosed = false
    /// The application has requested more in the meantime.
    var isReadHeld = false

    /// Appends bytes if others wait already.
    mutating func append(_ more: ByteBuffer) -> Bool {
        guard bytes != nil else { return false }
        var more = more
        bytes?.writeBuffer(&more)
        return true
    }
}

/// A client gets the responses of its slots, and none while it takes no bytes. Further requests wait here and
/// not after the decoder: there, each of its requests would cost as much as a miss.
extension ResponseCacheHandler {
    /// Whether the client has a slot; keeps the bytes for it otherwise.
    func begins(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        if connection.share.begins(.cachedResponse, now: context.eventLoop.now) { return true }
        connection.share.wait(.cachedResponse) { self.resume(context) }
        postponed.bytes = bytes
        return false
    }

    /// Keeps bytes for the next slot.
    func postpone(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        postponed.bytes = bytes
        guard context.channel.isWritable else { return }
        connection.share.wait(.cachedResponse) { self.resume(context) }
    }

    /// Processes the input that waits for the response under way, once that has ended.
    func resumeLater() {
        guard postponed.bytes != nil, let context else { return }
        context.eventLoop.assumeIsolated().execute { self.resume(context) }
    }

    private func resume(_ context: ChannelHandlerContext) {
        guard context.channel.isActive, context.channel.isWritable, let bytes = postponed.bytes else { return }
        postponed.bytes = nil
        process(bytes, context)
        completeRead(context)
        guard postponed.bytes == nil else { return }
        if postponed.isInputClosed {
            postponed.isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if postponed.isReadHeld {
            postponed.isReadHeld = false
            context.read()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        // Within a flush of this handler nothing is postponed yet.
        if postponed.bytes != nil { resume(context) }
    }

    func read(context: ChannelHandlerContext) {
        if postponed.bytes == nil { context.read() } else { postponed.isReadHeld = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if postponed.bytes != nil, case ChannelEvent.inputClosed = event {
            postponed.isInputClosed = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        postponed = PostponedInput()
        context.fireChannelInactive()
    }
}

/// Follows the exchanges of a connection, for a handler ahead of the decoder. Called on the event loop.
protocol ExchangeObserver: AnyObject {
    /// A request is passed to the application.
    func requestBegins(_ head: HTTPRequestHead)
    /// The head of its response is written next; nothing but the response is written until it ends.
    func responseBegins(_ annotations: ResponseAnnotations.Values)
    /// Its response has been written, and the connection stays open.
    func responseEnded(now: NIODeadline)
    /// Its response is not complete, or ends the connection.
    func responseAbandoned()
}
