import NIOCore
import NIOHPACK
import NIOHTTP2

/// The shell around ``HTTP2ConnectionState``, between the frames of a connection and their division into streams: ends
/// the connection, watches whether the client takes what it gets, and sends cached responses before anything of a
/// stream is made. What a request may be, ``ConnectionHandler`` decides on its stream.
final class HTTP2ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    let limits: ConnectionLimits
    let share: ConnectionShare
    let cache: ResponseCache?
    let reports: ConnectionReports
    private let counter: ByteCounter
    private let failure: HTTP2FailureWatch

    private var state: HTTP2ConnectionState
    private var stalledWrites: StalledWriteDetector
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    /// When a connection whose last frame is written is closed, whatever the client has taken.
    private var closeDeadline: NIODeadline?
    private(set) var context: ChannelHandlerContext?

    var date = ServerDate()
    var cachedWrites: CachedWrites
    var postponed: [PostponedStream] = []

    /// - Parameters:
    ///   - counter: Counts the bytes nearest to the socket.
    ///   - failure: Hears of the frames that NIO writes.
    init(
        limits: ConnectionLimits,
        counter: ByteCounter,
        failure: HTTP2FailureWatch,
        reports: ConnectionReports,
        share: ConnectionShare,
        cache: ResponseCache?,
        now: NIODeadline
    ) {
        self.limits = limits
        self.counter = counter
        self.failure = failure
        self.reports = reports
        self.share = share
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
        timer?.task.cancel()
        timer = nil
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
        postponed = []
        context.fireChannelInactive()
    }

    // MARK: Frames

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let block) where block.endStream && respond(to: frame, block.headers, context) != .missed:
            return
        case .data(let data):
            share.decoded(bytes: data.data.readableBytes)
        default:
            break
        }
        context.fireChannelRead(data)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        watchWrites(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        resume()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let created as NIOHTTP2StreamCreatedEvent:
            state.opened(created.streamID)
            if let index = postponed.firstIndex(where: { $0.frame.streamID == created.streamID }) {
                postponed[index].created = created
                return
            }
        case let closed as StreamClosedEvent:
            postponed.removeAll { $0.frame.streamID == closed.streamID }
            if state.closed(closed.streamID, now: context.eventLoop.now) { closeLater(context) }
            armTimer(context)
        case is ChannelShouldQuiesceEvent:
            // Not passed on: the streams that are open go on to their ends.
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
        case is any NIOHTTP2Error where !failure.hasFailed:
            // Of a stream, which NIO has reset.
            break
        default:
            if failure.hasFailed { reports.onAbruptClose(.http2) }
            context.close(promise: nil)
        }
    }

    // MARK: The end

    private func end(_ context: ChannelHandlerContext) {
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
    private func closeLater(_ context: ChannelHandlerContext) {
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
        guard context.channel.isActive, let deadline = deadlines.compactMap({ $0 }).min() else { return }
        if let timer {
            guard deadline < timer.deadline else { return }
            timer.task.cancel()
        }
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.timer = nil
            self.timerFired(context)
        }
        timer = (deadline, task)
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
