import NIOCore
import NIOHTTP1

extension ConnectionHandler {
    /// Whether an item may be processed now. A request begins when it is the turn of its client; what waits is released
    /// then.
    func begins(_ item: Held, _ context: ChannelHandlerContext) -> Bool {
        guard case .part(.head(_), _) = item else { return true }
        let begins = share.begins(.request, now: context.eventLoop.now) {
            if let context = self.context { self.releaseHeld(context) }
        }
        state.isTurnAwaited = !begins
        return begins
    }
}
