import NIOCore
import NIOHTTP2

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
