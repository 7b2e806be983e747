import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

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

/// Interim responses of the application (RFC 9110 §15.2).
extension ConnectionHandler {
    /// Lets the application send interim responses.
    func acceptInterimResponses(_ context: ChannelHandlerContext) {
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        annotations.interim.opened { [eventLoop = context.eventLoop] response, request in
            eventLoop.execute { handler.value.write(interim: response, to: request) }
        }
    }

    /// Writes an interim response, unless the response to its request has begun or the client takes no bytes. A client
    /// of HTTP/1.0 gets none (RFC 9110 §15.2).
    private func write(interim response: HTTPResponse, to request: Int) {
        guard let context, isWritable, request == annotations.interim.request else { return }
        let head = HTTPResponseHead(response)
        guard case .pass = state.responseHead(head) else { return }
        context.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
        watchWrites(context)
    }
}
