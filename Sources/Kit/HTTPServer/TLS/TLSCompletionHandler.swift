import NIOCore
import NIOTLS

/// Notices the end of a handshake, and keeps its failure to itself: the connection is closed then.
final class TLSCompletionHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let onEnd: (TLSEntryHandler.Outcome) -> Void

    /// - Parameter onEnd: adds the handlers behind this one, which is then removed
    init(onEnd: @escaping (TLSEntryHandler.Outcome) -> Void) {
        self.onEnd = onEnd
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted(let chosen) = event else {
            return context.fireUserInboundEventTriggered(event)
        }
        onEnd(.tls(protocol: chosen))
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        onEnd(.failed(.handshake))
    }
}
