import NIOCore
import NIOHTTP1

/// The shell around ``ConnectionState``: passes it the events of the channel and performs its actions.
///
/// It is between the HTTP/1 codecs and the application, which therefore sees one request at a time. Responses, closing
/// and the timer are in `ConnectionHandler+Responses.swift`.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// An event that waits for the response before it.
    enum Held {
        /// A part, and the same as it arrived: wrapping it again would cost an allocation.
        case part(HTTPServerRequestPart, NIOAny)
        case failure(ConnectionRefusal)
        case inputClosed
    }

    let limits: ConnectionLimits
    let counter: ByteCounter
    let reports: ConnectionReports
    /// Annotations of the response under way.
    let annotations: ResponseAnnotations
    let share: SchedulerShare
    /// Counts the bytes that wait here.
    let open: OpenConnection
    var state: ConnectionState
    var timer = DeadlineTimer()
    /// Pause between interim responses to a client that has closed its output.
    static let probeInterval = TimeAmount.seconds(2)
    /// The next of them.
    var probe: Scheduled<Void>?

    var unparsed = UnparsedByteCounter()
    var pieces: BodyPieces
    var held = CircularBuffer<Held>()
    private var isReleasing = false
    private var isReadHeld = false
    private(set) var isWritable = true
    /// The rest of the response under way.
    var unsent = UnsentParts()
    var isSending = false
    /// Whether the application has closed its output while parts waited: it is closed after those of ``unsent``.
    var isCloseDue = false
    /// Bytes received when the last response was written; later bytes are discarded.
    var discardFrom = 0

    /// A handler ahead of the decoder that follows the exchanges.
    var observer: (any ExchangeObserver)?
    /// The counts of the decoder, for the handler ahead of it.
    private(set) var decoded = DecodedCounts()
    private(set) var context: ChannelHandlerContext?
    /// Whether the client waits for `100 Continue` before it sends its body.
    var awaitsContinue = false
    /// The head of the request under way.
    var head: HTTPRequestHead?

    init(
        limits: ConnectionLimits,
        counter: ByteCounter,
        reports: ConnectionReports,
        annotations: ResponseAnnotations,
        share: SchedulerShare,
        open: OpenConnection,
        security: ConnectionSecurity,
        largeBodies: LargeBodySlots? = nil,
        now: NIODeadline
    ) {
        self.limits = limits
        self.counter = counter
        self.reports = reports
        self.annotations = annotations
        self.share = share
        self.open = open
        pieces = BodyPieces(largeBodies)
        state = ConnectionState(limits: limits, security: security, now: now)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        acceptInterimResponses(context)
        if context.channel.isActive { armTimer(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        cancelTimer()
        piecesEnded(context)
        annotations.interim.closed()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        armTimer(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancelTimer()
        held.removeAll()
        open.hold(-unsent.bytes)
        unsent.removeAll()
        annotations.presence.left()
        if let error = state.channelClosed() {
            reports.onAbruptClose(.truncatedRequest)
            context.fireErrorCaught(error)
        }
        context.fireChannelInactive()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = Self.unwrapInboundIn(data)
        decoded.note(part)
        switch part {
        case .head, .end: unparsed.decodedBoundary(received: counter.received)
        case .body(let bytes): unparsed.decodedBody(bytes: bytes.readableBytes, received: counter.received)
        }
        take(.part(part, data), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let refusal = ConnectionRefusal(decoding: error) else {
            // Not the client's message but its connection: no response can reach it.
            context.fireErrorCaught(state.isBodyDue ? RequestBodyError.truncated : error)
            context.close(promise: nil)
            return
        }
        // The end of input within a message is reported as bad syntax as well, and handled as the end of input.
        if case HTTPParserError.invalidEOFState = error { return }
        take(.failure(refusal), context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            // Not passed on, because it would end the body of the request under way.
            if state.quiesce() == .drain { drain(context) }
        case ChannelEvent.inputClosed:
            if held.isEmpty { inputClosed(context) } else { held.append(.inputClosed) }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        checkUnparsed(context)
        if state.isBodyDue { state.readPaused(now: context.eventLoop.now) }
        context.fireChannelReadComplete()
        discardCompleted(context)
        armTimer(context)
    }

    func read(context: ChannelHandlerContext) {
        if state.intake == .discard { return }
        // Bytes that arrive while a response is under way wait in memory: at most as many as a head may have.
        guard held.isEmpty, unparsed.pending(received: counter.received) <= limits.headerBytes else {
            isReadHeld = true
            return
        }
        if state.readPausedAt != nil, !awaitsContinue {
            state.readResumed(now: context.eventLoop.now)
            armTimer(context)
        }
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        if !unsent.isEmpty { sendUnsent(context) }
        context.fireChannelWritabilityChanged()
        if isWritable { releaseHeld(context) }
    }

    private func take(_ item: Held, _ context: ChannelHandlerContext) {
        if state.intake == .discard { return }
        if held.isEmpty, mayProcess, begins(item, context) { process(item, context) } else { held.append(item) }
    }

    /// Whether the next item may be processed. A client that takes no responses gets no further request served:
    /// responses made on the event loop would pile up.
    private var mayProcess: Bool {
        state.intake == .process && (isWritable || !state.isBetweenRequests)
    }

    private func process(_ item: Held, _ context: ChannelHandlerContext) {
        switch item {
        case .part(.head(let head), let data):
            process(head, data, context)
        case .part(.body(let bytes), let data):
            bodyArrived(context)
            state.bodyReceived(bytes: bytes.readableBytes, now: context.eventLoop.now)
            pieceArrived(bytes: bytes.readableBytes, context)
            context.fireChannelRead(data)
        case .part(.end, let data):
            state.requestEnded()
            piecesEnded(context)
            context.fireChannelRead(data)
        case .failure(let refusal):
            perform(state.failed(refusal, body: .malformed), context)
        case .inputClosed:
            inputClosed(context)
        }
    }

    private func process(_ head: HTTPRequestHead, _ data: NIOAny, _ context: ChannelHandlerContext) {
        self.head = head
        switch state.headReceived(head, now: context.eventLoop.now) {
        case .forward(let accepted):
            awaitsContinue = accepted.expectsContinue
            // The client now waits for the server, so time does not count against it.
            if awaitsContinue { state.readPaused(now: context.eventLoop.now) }
            // Nothing of an earlier exchange may apply to this one.
            _ = annotations.take()
            annotations.interim.requestBegan()
            observer?.requestBegins(accepted.head)
            context.fireChannelRead(accepted.isRewritten ? Self.wrapInboundOut(.head(accepted.head)) : data)
        case .refuse(let refusal):
            refuse(refusal, version: head.version, isHEAD: head.method == .HEAD, context)
        }
    }

    private func inputClosed(_ context: ChannelHandlerContext) {
        switch state.inputClosed() {
        case .forward:
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
            annotations.presence.outputClosed { [eventLoop = context.eventLoop] in
                eventLoop.execute { handler.value.probeClient() }
            }
        case .drain:
            drain(context)
        case .close:
            context.close(promise: nil)
        case .closeAbruptly(let reason, let body):
            closeAbruptly(reason, body: body, context)
        case .ignore:
            break
        }
    }

    /// Processes the parts that were held back, after a response or when the client takes bytes again.
    func releaseHeld(_ context: ChannelHandlerContext) {
        // A response made on the event loop within this loop calls this function again. Then the loop continues with
        // the next request.
        guard !isReleasing else { return }
        isReleasing = true
        var released = false
        while let next = held.first, mayRelease, begins(next, context), let item = held.popFirst() {
            released = true
            process(item, context)
        }
        isReleasing = false
        if released {
            context.fireChannelReadComplete()
            armTimer(context)
        }
        if isReadHeld, held.isEmpty {
            isReadHeld = false
            read(context: context)
        }
    }

    private var mayRelease: Bool {
        if case .inputClosed = held.first { true } else { mayProcess }
    }

    /// Checks bytes that have arrived and are not parsed: after a response they may belong to the next head.
    func checkUnparsed(_ context: ChannelHandlerContext) {
        perform(
            state.checkUnparsed(bytes: unparsed.pending(received: counter.received), now: context.eventLoop.now),
            context
        )
    }
}

extension ConnectionRefusal {
    /// The refusal for an error of the decoder; nil for errors that are not about the client's message.
    init?(decoding error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow:
            self = .headersTooLarge("The request head is too large or has too many fields.")
        case is HTTPParserError, is ByteToMessageDecoderError:
            self = .malformed("The bytes received are not an HTTP/1.1 request.")
        default:
            return nil
        }
    }
}

extension ConnectionHandler {
    /// Whether an item may be processed now. A request begins when its client has a slot; waiting parts are
    /// released then.
    func begins(_ item: Held, _ context: ChannelHandlerContext) -> Bool {
        guard case .part(.head(_), _) = item else { return true }
        let begins = share.begins(.request, now: context.eventLoop.now) {
            if let context = self.context { self.releaseHeld(context) }
        }
        state.isSlotAwaited = !begins
        return begins
    }
}

/// Sizes of reads.
extension ConnectionHandler {
    /// Notes a piece of the body of the request under way.
    func pieceArrived(bytes: Int, _ context: ChannelHandlerContext) {
        if pieces.received(bytes: bytes, of: head?.headers.first(name: "Content-Length").flatMap(Int.init)) {
            setPieces(context)
        }
    }

    /// Notes that the body has ended, or that its rest is discarded.
    func piecesEnded(_ context: ChannelHandlerContext) {
        if pieces.ended() { setPieces(context) }
    }

    private func setPieces(_ context: ChannelHandlerContext) {
        guard let options = context.channel.syncOptions else { return }
        let allocator: any RecvByteBufferAllocator =
            pieces.areLarge ? LargePieceAllocator() : AdaptiveRecvByteBufferAllocator()
        do {
            try options.setOption(.recvAllocator, value: allocator)
        } catch {
            // The channel is closed and reads nothing more.
        }
    }
}

/// For a handler ahead of the decoder that responds to requests while no other request is under way.
extension ConnectionHandler {
    /// Whether a request that arrived now would get its response at once, with the connection staying open.
    var isAtRest: Bool {
        state.isAtRest && held.isEmpty && isWritable
    }

    /// Whether a request that arrived now would wait for the response before it.
    var holdsRequests: Bool {
        switch state.intake {
        case .process: !held.isEmpty
        case .hold: true
        case .discard: false
        }
    }

    /// Notes that requests of this many bytes got their responses ahead of the decoder, and that these were flushed.
    func servedFromCache(bytes: Int, now: NIODeadline) {
        unparsed.servedFromCache(bytes: bytes)
        state.servedFromCache(now: now)
        if let context { watchWrites(context) }
    }

    /// Refuses the request under way: a chunk of its body has 2^63 bytes or more.
    func refuseHugeChunk() {
        if let context { take(.failure(.malformed("A chunk of the body is too large.")), context) }
    }

    /// Notes that the last of them ends the connection, which is closed once the client has taken it.
    func servedLastFromCache() {
        state.servedLastFromCache()
        if let context { drain(context) }
    }
}
