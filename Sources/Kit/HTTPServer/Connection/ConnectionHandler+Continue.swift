import NIOCore
import NIOHTTP1

/// `100 Continue` (RFC 9110 §10.1.1): sent when the application begins to read the body, so that a request which is
/// refused by its head alone gets its final response instead.
extension ConnectionHandler {
    func triggerUserOutboundEvent(
        context: ChannelHandlerContext,
        event: Any,
        promise: EventLoopPromise<Void>?
    ) {
        guard event is BodyDemand else { return context.triggerUserOutboundEvent(event, promise: promise) }
        promise?.succeed()
        guard awaitsContinue, state.isBodyDue, !state.isResponseBegun else { return }
        context.writeAndFlush(
            Self.wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))),
            promise: nil
        )
        continued(context)
    }

    /// The client did not wait.
    func bodyArrived(_ context: ChannelHandlerContext) {
        if awaitsContinue { continued(context) }
    }

    /// The time of the client begins.
    private func continued(_ context: ChannelHandlerContext) {
        awaitsContinue = false
        state.readResumed(now: context.eventLoop.now)
        armTimer(context)
    }
}
