import NIOCore
import NIOHTTP1

/// The size of what is read at a time.
extension ConnectionHandler {
    /// Notes a piece of the body of the request under way.
    func pieceArrived(bytes: Int, _ context: ChannelHandlerContext) {
        if pieces.received(bytes: bytes, of: head?.headers.first(name: "Content-Length").flatMap(Int.init)) {
            setPieces(context)
        }
    }

    /// Notes that no further piece of it comes, or that it is thrown away.
    func piecesEnded(_ context: ChannelHandlerContext) {
        if pieces.ended() { setPieces(context) }
    }

    private func setPieces(_ context: ChannelHandlerContext) {
        guard let options = context.channel.syncOptions else { return }
        let allocator: any RecvByteBufferAllocator =
            pieces.areLarge ? LargePieceAllocator() : AdaptiveRecvByteBufferAllocator()
        do {
            try options.setOption(.recvAllocator, value: allocator)
        } catch {
            // The channel is closed and reads nothing more.
        }
    }
}
