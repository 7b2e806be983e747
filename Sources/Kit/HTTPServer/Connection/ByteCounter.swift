import NIOCore

/// Counts the bytes of a connection, nearest to the socket. The connection handler reads the counts on the same event
/// loop.
///
/// With a response cache, `ResponseCacheHandler` is nearest to the socket and counts instead: every handler on the way
/// costs a hit some percent.
final class ByteCounter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Bytes received since the connection began.
    var received = 0
    /// Bytes handed to the socket since the connection began, taken or not.
    var sent = 0
    /// Bytes of a stream that were handed over and that the client has not taken; nil if the channel counts them.
    var waiting: Int?

    /// The connection whose requests are counted.
    weak var connection: ConnectionHandler?
    private var boundary = RequestBoundary()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        while bytes.readableBytes > 0 {
            let stretch = bytes.withUnsafeReadableBytes { boundary.stretch(of: $0) }
            guard let piece = bytes.readSlice(length: stretch.count) else { return }
            received += stretch.count
            if stretch.hasHugeChunk { connection?.refuseHugeChunk() }
            let before = connection?.decoded ?? DecodedCounts()
            context.fireChannelRead(Self.wrapInboundOut(piece))
            boundary.passed(stretch, before: before, after: connection?.decoded ?? before)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        sent += Self.unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }
}
