import NIOCore
import NIOHPACK
import NIOHTTP2

/// The shell around ``HTTP2ConnectionState``, between the frames of a connection and their division into streams. It
/// ends the connection, watches whether the client takes its bytes, begins requests, and sends cached responses before
/// anything of a stream is made. ``ConnectionHandler`` decides on its stream which requests are accepted.
final class HTTP2ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    let limits: ConnectionLimits
    let share: SchedulerShare
    let open: OpenConnection
    let cache: ResponseCache?
    let reports: ConnectionReports
    let counter: ByteCounter
    private let written: HTTP2WrittenFrames
    let requests: HTTP2RepeatedRequests

    var state: HTTP2ConnectionState
    var stalledWrites: StalledWriteDetector
    var timer = DeadlineTimer()
    /// When a connection whose last frame is written is closed, whatever the client has taken.
    var closeDeadline: NIODeadline?
    private(set) var context: ChannelHandlerContext?

    var date = ServerDate()
    var cachedWrites: CachedWrites
    /// Requests that wait, in the order of their arrival.
    var postponed: [PostponedStream] = []
    /// Requests whose responses are expected soon.
    var unanswered: Set<HTTP2StreamID> = []
    /// Bytes that streams hold, beside those of responses.
    var charges: [HTTP2StreamID: Int] = [:]
    var isResuming = false
    var isResumingLater = false
    var isPatient = false

    /// - Parameters:
    ///   - counter: Counts the bytes nearest to the socket.
    ///   - written: Observes the frames that NIO writes.
    ///   - requests: Records which requests can be repeated.
    init(
        limits: ConnectionLimits,
        counter: ByteCounter,
        written: HTTP2WrittenFrames,
        requests: HTTP2RepeatedRequests,
        reports: ConnectionReports,
        share: SchedulerShare,
        open: OpenConnection,
        cache: ResponseCache?,
        now: NIODeadline
    ) {
        self.limits = limits
        self.counter = counter
        self.written = written
        self.requests = requests
        self.reports = reports
        self.share = share
        self.open = open
        self.cache = cache
        state = HTTP2ConnectionState(limits, now: now)
        stalledWrites = StalledWriteDetector(deadline: TimeAmount(limits.writeDeadline))
        cachedWrites = CachedWrites(deadline: TimeAmount(limits.writeDeadline))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        armTimer(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer.cancel()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer.cancel()
        postponed = []
        context.fireChannelInactive()
    }

    // MARK: Frames

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let block) where !state.isOpen(frame.streamID):
            return arrived(frame, block.headers, context)
        case .data(let data):
            share.decoded(bytes: data.data.readableBytes)
        default:
            break
        }
        if !postpones(frame) { context.fireChannelRead(data) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let frame = Self.unwrapOutboundIn(data)
        if case .headers = frame.payload { answered(frame.streamID, context) }
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        watchWrites(context)
    }

    var hasStreams: Bool { state.hasStreams }

    /// Whether requests may be responded to ahead of NIO.
    var servesRepeated: Bool { !state.isEnding && state.hasRoom && !written.hasFailed }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        resume()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let created as NIOHTTP2StreamCreatedEvent:
            state.opened(created.streamID)
            if let index = postponed.firstIndex(where: { $0.frames[0].streamID == created.streamID }) {
                postponed[index].created = created
                return
            }
        case let closed as StreamClosedEvent:
            ended(closed.streamID, context)
            if state.closed(closed.streamID, now: context.eventLoop.now) { closeLater(context) }
            armTimer(context)
        case is ChannelShouldQuiesceEvent:
            // Not passed on, so that the open streams continue to their ends.
            return end(context)
        case ChannelEvent.inputClosed:
            // No client of HTTP/2 closes its output only.
            return context.close(promise: nil)
        default:
            break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is NIOHTTP2Errors.StreamError:
            context.fireErrorCaught(error)
        case is any NIOHTTP2Error where !written.hasFailed:
            // Of a stream, which NIO has reset.
            break
        default:
            // Once: writes of NIO after its GOAWAY fail as well, such as an update of the connection's window.
            if written.hasFailed, context.channel.isActive { reports.onAbruptClose(.http2) }
            context.close(promise: nil)
        }
    }
}

/// A request that has not begun: it waits for a slot of its client, or until the connection holds less.
struct PostponedStream {
    /// Its head, and the parts of its body that have arrived.
    var frames: [HTTP2Frame]
    /// Follows the head.
    var created: NIOHTTP2StreamCreatedEvent?
}

/// Begins the requests of a connection, as far as its held bytes allow.
///
/// A request whose response has not begun counts as if that were large, for some time. Otherwise a hundred that begin
/// at once could make a hundred large responses before the first is taken. A response that takes longer delays no other
/// request.
extension HTTP2ConnectionHandler {
    /// Bytes that requests are taken to hold.
    private enum Estimate {
        /// Of a response that has not begun.
        static let response = 256 << 10
        /// Of the handlers and the task of a stream.
        static let stream = 32 << 10
    }

    /// For how long a response that has not begun is expected.
    private static let patience = TimeAmount.milliseconds(100)

    /// The head of a request has arrived.
    func arrived(_ frame: HTTP2Frame, _ block: HPACKHeaders, _ context: ChannelHandlerContext) {
        charge(block.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }, to: frame.streamID)
        let stream = PostponedStream(frames: [frame])
        guard !postponed.isEmpty || !begins(stream, context) else { return }
        postponed.append(stream)
        resumeAfterPatience(context)
    }

    /// Keeps a further frame of a request that has not begun.
    func postpones(_ frame: HTTP2Frame) -> Bool {
        guard let index = postponed.firstIndex(where: { $0.frames[0].streamID == frame.streamID }) else { return false }
        if case .data(let data) = frame.payload { charge(data.data.readableBytes, to: frame.streamID) }
        postponed[index].frames.append(frame)
        return true
    }

    /// Begins a request if it may.
    private func begins(_ stream: PostponedStream, _ context: ChannelHandlerContext) -> Bool {
        guard case .headers(let block) = stream.frames[0].payload else { return true }
        guard open.mayBegin, context.channel.isWritable else { return false }
        if block.endStream {
            switch respond(to: stream.frames[0], block.headers, context) {
            case .served: return true
            case .postponed: return false
            case .missed: break
            }
        }
        let identifier = stream.frames[0].streamID
        charge(Estimate.response, to: identifier)
        unanswered.insert(identifier)
        resumeAfterPatience(context)
        context.fireChannelRead(Self.wrapInboundOut(stream.frames[0]))
        if let created = stream.created { context.fireUserInboundEventTriggered(created) }
        for frame in stream.frames.dropFirst() { context.fireChannelRead(Self.wrapInboundOut(frame)) }
        return true
    }

    /// The response to a request begins.
    func answered(_ stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        guard unanswered.remove(stream) != nil else { return }
        charge(Estimate.stream - Estimate.response, to: stream)
        resumeLater(context)
    }

    func ended(_ stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        postponed.removeAll { $0.frames[0].streamID == stream }
        unanswered.remove(stream)
        open.hold(-(charges.removeValue(forKey: stream) ?? 0))
        resumeLater(context)
    }

    private func charge(_ count: Int, to stream: HTTP2StreamID) {
        charges[stream, default: 0] += count
        open.hold(count)
    }

    // MARK: Waiting requests

    /// Begins waiting requests, as far as that is possible.
    func resume() {
        guard let context, context.channel.isActive, !isResuming else { return }
        isResuming = true
        var (hasBegun, isBlocked) = (false, false)
        while !isBlocked, let stream = postponed.first {
            postponed.removeFirst()
            isBlocked = !begins(stream, context)
            if isBlocked { postponed.insert(stream, at: 0) } else { hasBegun = true }
        }
        isResuming = false
        guard hasBegun else { return }
        context.flush()
        context.fireChannelReadComplete()
    }

    /// Begins waiting requests when the frames under way have been processed.
    private func resumeLater(_ context: ChannelHandlerContext) {
        guard !postponed.isEmpty, !isResumingLater else { return }
        isResumingLater = true
        context.eventLoop.assumeIsolated().execute {
            self.isResumingLater = false
            self.resume()
        }
    }

    /// Expects no response for longer, and begins waiting requests: other connections may hold less by then.
    private func resumeAfterPatience(_ context: ChannelHandlerContext) {
        guard !isPatient, !postponed.isEmpty || !unanswered.isEmpty else { return }
        isPatient = true
        _ = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
            self.isPatient = false
            guard let context = self.context else { return }
            for stream in self.unanswered { self.charge(Estimate.stream - Estimate.response, to: stream) }
            self.unanswered = []
            self.resume()
            self.resumeAfterPatience(context)
        }
    }
}

/// How a connection ends, and when: after a stop, without requests, or if the client takes nothing.
extension HTTP2ConnectionHandler {
    /// Lets the streams that are open end, then closes.
    func end(_ context: ChannelHandlerContext) {
        switch state.end() {
        case .announce: context.writeAndFlush(Self.wrapOutboundOut(goAway), promise: nil)
        case .close: close(context)
        case .none: break
        }
    }

    private var goAway: HTTP2Frame {
        let last = state.lastStream
        return HTTP2Frame(
            streamID: .rootStream,
            payload: .goAway(lastStreamID: last, errorCode: .noError, opaqueData: nil)
        )
    }

    /// Closes after the frames that end the last stream, which are written but not flushed yet.
    func closeLater(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().execute {
            if let context = self.context { self.close(context) }
        }
    }

    /// Closes once the client has taken everything, or after some time.
    private func close(_ context: ChannelHandlerContext) {
        guard closeDeadline == nil else { return }
        closeDeadline = context.eventLoop.now + TimeAmount(limits.lingerTime)
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        context.writeAndFlush(Self.wrapOutboundOut(goAway), promise: promise)
        armTimer(context)
    }

    // MARK: Timer

    /// Starts to watch whether the client takes its bytes, unless they are watched already.
    func watchWrites(_ context: ChannelHandlerContext) {
        guard !stalledWrites.isWatching else { return }
        stalledWrites.begin(taken: counter.sent - waitingBytes(context), now: context.eventLoop.now)
        armTimer(context)
    }

    private func waitingBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Makes the timer fire no later than the next deadline.
    func armTimer(_ context: ChannelHandlerContext) {
        let deadlines = [
            state.idleDeadline, stalledWrites.nextCheck, cachedWrites.stalled.nextCheck, closeDeadline,
        ]
        guard context.channel.isActive else { return }
        timer.arm(deadlines.compactMap { $0 }.min(), on: context.eventLoop) {
            self.timer.fired()
            self.timerFired(context)
        }
    }

    private func timerFired(_ context: ChannelHandlerContext) {
        let (now, waiting) = (context.eventLoop.now, waitingBytes(context))
        if let closeDeadline, now >= closeDeadline { return context.close(promise: nil) }
        if stalledWrites.isStalled(taken: counter.sent - waiting, waiting: waiting, now: now) {
            reports.onAbruptClose(.writeStalled)
            return context.close(promise: nil)
        }
        resetStalled(context)
        if let idle = state.idleDeadline, now >= idle {
            reports.onAbruptClose(.idle)
            end(context)
        }
        armTimer(context)
    }
}
