import NIOCore

/// Closes a connection whose client has closed its side: a client that hung up must not count as waiting, and
/// Hummingbird keeps half-closed connections open until their response is written.
final class HalfCloseHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
