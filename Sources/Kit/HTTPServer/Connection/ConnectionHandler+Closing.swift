import NIOCore
import NIOHTTP1

extension ConnectionHandler {
    /// Performs the action for a failed request, and fails the reader of its body.
    func perform(_ action: ConnectionState.FailureAction, _ context: ChannelHandlerContext) {
        switch action {
        case .refuse(let refusal, let version, let isHEAD, let body):
            refuse(refusal, version: version, isHEAD: isHEAD, context)
            if let body { context.fireErrorCaught(body) }
        case .closeAbruptly(let reason, let body):
            closeAbruptly(reason, body: body, context)
        case .ignore:
            break
        }
    }

    /// Closes without a response.
    func closeAbruptly(_ reason: AbruptClose, body: RequestBodyError?, _ context: ChannelHandlerContext) {
        reports.onAbruptClose(reason)
        if let body { context.fireErrorCaught(body) }
        context.close(promise: nil)
    }

    /// Waits until the client has taken everything, then closes: our side first, so that the client can still read the
    /// response.
    func drain(_ context: ChannelHandlerContext) {
        held.removeAll()
        piecesEnded(context)
        observer?.responseAbandoned()
        discardFrom = counter.received
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { result in
            guard case .success = result, self.state.drained(now: context.eventLoop.now) == .closeOutput else {
                return context.close(promise: nil)
            }
            let closed = context.eventLoop.makePromise(of: Void.self)
            closed.futureResult.assumeIsolated().whenFailure { _ in context.close(promise: nil) }
            context.close(mode: .output, promise: closed)
            self.discardCompleted(context)
            self.armTimer(context)
        }
        context.write(Self.nothing, promise: promise)
        context.flush()
        watchWrites(context)
        // From here on this handler reads by itself: no later handler needs the bytes that arrive.
        context.read()
    }

    /// While draining and lingering, reads until enough has been discarded.
    func discardCompleted(_ context: ChannelHandlerContext) {
        let isWithin = counter.received - discardFrom <= limits.lingerBytes
        switch state.phase {
        case .draining where isWithin, .lingering where isWithin:
            context.read()
        case .lingering:
            context.close(promise: nil)
        default:
            break
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input else { return context.close(mode: mode, promise: promise) }
        guard mode != .output || unsent.isEmpty else {
            isCloseDue = true
            return context.channel.closeFuture.cascade(to: promise)
        }
        switch state.applicationClosed(outputOnly: mode == .output) {
        case .close:
            context.close(mode: .all, promise: promise)
        case .drain:
            context.channel.closeFuture.cascade(to: promise)
            drain(context)
        case .ignore:
            context.channel.closeFuture.cascade(to: promise)
        }
    }

    // MARK: Timer

    /// Makes the timer fire no later than the next deadline.
    func armTimer(_ context: ChannelHandlerContext) {
        timer.arm(state.nextDeadline, on: context.eventLoop) {
            self.timer.fired()
            self.timerFired(context)
        }
    }

    func cancelTimer() {
        timer.cancel()
        probe?.cancel()
        probe = nil
    }

    private func timerFired(_ context: ChannelHandlerContext) {
        let waiting = waitingBytes(context)
        switch state.timerFired(taken: counter.sent - waiting, waiting: waiting, now: context.eventLoop.now) {
        case .none:
            break
        case .fail(let action):
            perform(action, context)
        case .closeAbruptly(let reason, let body):
            closeAbruptly(reason, body: body, context)
        case .close:
            context.close(promise: nil)
        }
        armTimer(context)
    }
}
