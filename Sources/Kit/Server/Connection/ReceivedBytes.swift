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

/// An accepted connection before it has a pipeline and a task, which cost several times as much as to accept and
/// close it: it gets them when its client has a slot, if the client is still there.
struct Arrival {
    /// How much longer a connection waits whose client had to wait for a slot and has sent nothing meanwhile, or has
    /// many connections. A client that opens many and closes or resets them again has left then.
    private static let patience = TimeAmount.milliseconds(20)

    private let channel: any Channel
    private let share: SchedulerShare
    private let opens: (SchedulerShare) -> Void
    private let leaves: () -> Void

    /// - Parameters:
    ///   - channel: the connection, from which nothing is read yet
    ///   - share: its part of the event loop
    ///   - opens: is called if the connection is to be served
    ///   - leaves: is called instead if its client has left; the channel is closed then
    init(
        _ channel: any Channel,
        _ share: SchedulerShare,
        opens: @escaping (SchedulerShare) -> Void,
        leaves: @escaping () -> Void
    ) {
        self.channel = channel
        self.share = share
        self.opens = opens
        self.leaves = leaves
    }

    /// Opens the connection now, or when its client has a slot.
    func begin() {
        let now = channel.eventLoop.now
        if share.begins(.arrival, now: now, otherwise: { proceed(mayWait: true) }) {
            proceed(mayWait: share.isCrowded(now: now))
        }
    }

    private func proceed(mayWait: Bool) {
        let state = TCPState(of: channel)
        if state?.isAbandoned ?? false {
            channel.close(promise: nil)
            leaves()
        } else if mayWait, let state, state.isSilent || state.isOpen && share.isCrowded(now: channel.eventLoop.now) {
            _ = channel.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
                share.wait(.arrival) { proceed(mayWait: false) }
            }
        } else {
            share.opened()
            opens(share)
        }
    }
}

/// State of a TCP connection in the kernel (`TCP_INFO`) before anything is read from it.
struct TCPState: Equatable {
    /// The state of RFC 9293 §3.3.2, in the numbers of the kernel.
    let state: UInt8
    /// How far the client's sequence numbers have advanced: its bytes, and one for the end of its output.
    let received: UInt64

    /// Whether the client has reset the connection, or closed its output without having sent anything: then no response
    /// can reach it, or none is due.
    var isAbandoned: Bool {
        switch state {
        case Self.close: true
        case Self.closeWait: received == 1
        default: false
        }
    }

    /// Whether the client has neither reset the connection nor closed its output.
    var isOpen: Bool { state == Self.established }

    /// Whether the client has neither sent anything nor closed its output.
    var isSilent: Bool { isOpen && received == 0 }

    private static let established: UInt8 = 1
    private static let close: UInt8 = 7
    private static let closeWait: UInt8 = 8
}

extension TCPState {
    /// `struct tcp_info` of the kernel up to and beyond `tcpi_bytes_received`, which the C library does not have.
    private typealias Info = InlineArray<32, UInt64>

    /// Asks the kernel; nil if the channel is no TCP connection. Called on the event loop of the channel.
    init?(of channel: any Channel) {
        guard let provider = channel as? any SocketOptionProvider else { return nil }
        let info: EventLoopFuture<Info> = provider.unsafeGetSocketOption(
            level: .tcp,
            name: .tcp_info
        )
        var found: TCPState?
        // On the event loop the future is complete already.
        info.assumeIsolated().whenSuccess { info in
            found = TCPState(state: UInt8(truncatingIfNeeded: info[0]), received: info[16])
        }
        guard let found else { return nil }
        self = found
    }
}
