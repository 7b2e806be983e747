import NIOCore
import NIOHTTP1

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

/// Counts bytes that arrived and have not become a head or a body. The decoder bounds names and values, but reads chunk
/// extensions and empty lines without a limit.
///
/// Counts are totals of the connection. A read that completes a part forgives its other bytes, so the bound is
/// exact to one read.
struct UnparsedByteCounter {
    /// How many bytes of framing one byte of body pays for: a chunk of one byte takes six.
    private static let framingPerBodyByte = 8

    private var accounted = 0

    /// A head or the end of a request was decoded when `received` bytes had arrived.
    mutating func decodedBoundary(received: Int) {
        accounted = received
    }

    /// A piece of body was decoded when `received` bytes had arrived.
    mutating func decodedBody(bytes: Int, received: Int) {
        accounted = min(received, accounted + bytes * Self.framingPerBodyByte)
    }

    /// Bytes that had arrived got a response without reaching the decoder.
    mutating func servedFromCache(bytes: Int) {
        accounted += bytes
    }

    /// How many of the `received` bytes are still unaccounted for.
    func pending(received: Int) -> Int {
        received - accounted
    }
}

/// The parts that the decoder has read since the connection began.
struct DecodedCounts: Equatable {
    var heads = 0
    /// Ends of requests.
    var ends = 0
    /// `Content-Length` of the last head; nil without it, or with `Transfer-Encoding`.
    var contentLength: Int?
    /// Whether the last head has a `Transfer-Encoding`; none but `chunked` is accepted.
    var isChunked = false

    mutating func note(_ part: HTTPServerRequestPart) {
        switch part {
        case .head(let head):
            heads += 1
            isChunked = head.headers.contains(name: "Transfer-Encoding")
            contentLength = isChunked ? nil : head.headers.first(name: "Content-Length").flatMap { Int($0) }
        case .body:
            break
        case .end:
            ends += 1
        }
    }
}
