import NIOCore
import NIOHTTP1

/// The shell around ``ConnectionState``: tells it what happens on the channel and does what it says.
///
/// It stands between the HTTP/1 codecs and everything that responses, so whatever answers behind it sees one request at a
/// time. Files: requests and reading here; answers in `ConnectionHandler+Answers.swift`; timer and closing in
/// `ConnectionHandler+Closing.swift`.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// What waits for the response before it.
    enum Held {
        /// A part, and the same as it came: wrapping it again would cost an allocation.
        case part(HTTPServerRequestPart, NIOAny)
        case failure(ConnectionRefusal)
        case inputClosed
    }

    let limits: ConnectionLimits
    let meter: ByteCounter
    let reports: ConnectionReports
    var state: ConnectionState
    var timer: (deadline: NIODeadline, task: Scheduled<Void>)?

    var undecoded = UnparsedByteCounter()
    var held = CircularBuffer<Held>()
    private var isReleasing = false
    private var isReadHeld = false
    private(set) var isWritable = true
    /// How much had been received when the last response was written; what comes later is thrown away.
    var discardFrom = 0

    /// Answers ahead of the decoder, where answers are kept.
    var rendered: ResponseCacheHandler?
    /// What the decoder has read since the connection began.
    var decoded = RequestBoundary.Decoded()
    private(set) var context: ChannelHandlerContext?

    init(limits: ConnectionLimits, meter: ByteCounter, reports: ConnectionReports, now: NIODeadline) {
        self.limits = limits
        self.meter = meter
        self.reports = reports
        state = ConnectionState(limits: limits, now: now)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { armTimer(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        cancelTimer()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        armTimer(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancelTimer()
        held.removeAll()
        if let error = state.channelClosed() {
            reports.onCut(.truncatedRequest)
            context.fireErrorCaught(error)
        }
        context.fireChannelInactive()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = Self.unwrapInboundIn(data)
        if rendered != nil { noteDecoded(part) }
        switch part {
        case .head, .end: undecoded.decodedBoundary(received: meter.received)
        case .body(let bytes): undecoded.decodedBody(bytes: bytes.readableBytes, received: meter.received)
        }
        take(.part(part, data), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let refusal = ConnectionRefusal(decoding: error) else {
            // Not the client's message but its connection: nothing can be said to it any more.
            context.fireErrorCaught(error)
            context.close(promise: nil)
            return
        }
        // The end of input within a message is reported as bad syntax as well; it is dealt with as what it is.
        if case HTTPParserError.invalidEOFState = error { return }
        take(.failure(refusal), context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            // Not passed on: behind it the event would end the body of the request under way.
            if state.quiesce() == .drain { drain(context) }
        case ChannelEvent.inputClosed:
            if held.isEmpty { inputClosed(context) } else { held.append(.inputClosed) }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        perform(
            state.undecoded(bytes: undecoded.pending(received: meter.received), now: context.eventLoop.now),
            context
        )
        if state.isBodyDue { state.readPaused(now: context.eventLoop.now) }
        context.fireChannelReadComplete()
        discardCompleted(context)
        armTimer(context)
    }

    func read(context: ChannelHandlerContext) {
        if state.intake == .discard { return }
        // What comes while a response is under way waits in memory: no more than the limit of a head.
        guard held.isEmpty, undecoded.pending(received: meter.received) <= limits.headerBytes else {
            isReadHeld = true
            return
        }
        if state.readPausedAt != nil {
            state.readResumed(now: context.eventLoop.now)
            armTimer(context)
        }
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        context.fireChannelWritabilityChanged()
        if isWritable { releaseHeld(context) }
    }

    private func take(_ item: Held, _ context: ChannelHandlerContext) {
        if state.intake == .discard { return }
        if held.isEmpty, mayProcess { process(item, context) } else { held.append(item) }
    }

    /// A client that takes no responses gets no further request served: answers given on the event loop would pile up.
    private var mayProcess: Bool {
        state.intake == .process && (isWritable || !state.isBetweenRequests)
    }

    private func process(_ item: Held, _ context: ChannelHandlerContext) {
        switch item {
        case .part(.head(let head), let data):
            switch state.headReceived(head, now: context.eventLoop.now) {
            case .forward(let accepted):
                if accepted.expectsContinue {
                    context.writeAndFlush(
                        Self.wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))),
                        promise: nil
                    )
                }
                rendered?.requestBegins(accepted.head)
                context.fireChannelRead(accepted.isRewritten ? Self.wrapInboundOut(.head(accepted.head)) : data)
            case .refuse(let refusal):
                refuse(refusal, version: head.version, isHEAD: head.method == .HEAD, context)
            }
        case .part(.body, let data):
            state.bodyReceived(now: context.eventLoop.now)
            context.fireChannelRead(data)
        case .part(.end, let data):
            state.requestEnded()
            context.fireChannelRead(data)
        case .failure(let refusal):
            perform(state.failed(refusal, body: .malformed), context)
        case .inputClosed:
            inputClosed(context)
        }
    }

    private func inputClosed(_ context: ChannelHandlerContext) {
        switch state.inputClosed() {
        case .forward:
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        case .drain:
            drain(context)
        case .close:
            context.close(promise: nil)
        case .cut(let reason, let body):
            cut(reason, body: body, context)
        case .ignore:
            break
        }
    }

    /// Goes on with what was held back, after a response or when the client takes bytes again.
    func releaseHeld(_ context: ChannelHandlerContext) {
        // A response given on the event loop within this loop comes here again: the loop goes on with the next request.
        guard !isReleasing else { return }
        isReleasing = true
        var released = false
        while !held.isEmpty, mayRelease, let item = held.popFirst() {
            released = true
            process(item, context)
        }
        isReleasing = false
        if released { context.fireChannelReadComplete() }
        if isReadHeld, held.isEmpty {
            isReadHeld = false
            read(context: context)
        }
    }

    private var mayRelease: Bool {
        if case .inputClosed = held.first { true } else { mayProcess }
    }

    /// After a response: bytes may be there that belong to the next head.
    func noteUndecoded(_ context: ChannelHandlerContext) {
        perform(
            state.undecoded(bytes: undecoded.pending(received: meter.received), now: context.eventLoop.now),
            context
        )
    }
}

extension ConnectionRefusal {
    /// What the decoder's errors mean to the client; nil for errors that are not about its message.
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
