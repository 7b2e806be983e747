import NIOCore
import NIOHPACK
import NIOHTTP2

/// The shell around ``HTTP2ConnectionState``, between the frames of a connection and their division into streams: ends
/// the connection, watches whether the client takes what it gets, begins requests, and sends cached responses before
/// anything of a stream is made. ``ConnectionHandler`` decides on its stream which requests are accepted. Its end and
/// its timer are in `HTTP2ConnectionHandler+Closing.swift`.
final class HTTP2ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    let limits: ConnectionLimits
    let share: ConnectionShare
    let open: OpenConnection
    let cache: ResponseCache?
    let reports: ConnectionReports
    let counter: ByteCounter
    private let written: HTTP2WrittenFrames
    let requests: HTTP2RepeatedRequests

    var state: HTTP2ConnectionState
    var stalledWrites: StalledWriteDetector
    var timer = DeadlineTimer()
    /// When a connection whose last frame is written is closed, whatever the client has taken.
    var closeDeadline: NIODeadline?
    private(set) var context: ChannelHandlerContext?

    var date = ServerDate()
    var cachedWrites: CachedWrites
    /// Requests that wait, in the order of their arrival.
    var postponed: [PostponedStream] = []
    /// Requests whose responses are expected soon.
    var unanswered: Set<HTTP2StreamID> = []
    /// Bytes that streams hold, beside those of responses.
    var charges: [HTTP2StreamID: Int] = [:]
    var isResuming = false
    var isResumingLater = false
    var isPatient = false

    /// - Parameters:
    ///   - counter: Counts the bytes nearest to the socket.
    ///   - written: Observes the frames that NIO writes.
    ///   - requests: Records which requests can be repeated.
    init(
        limits: ConnectionLimits,
        counter: ByteCounter,
        written: HTTP2WrittenFrames,
        requests: HTTP2RepeatedRequests,
        reports: ConnectionReports,
        share: ConnectionShare,
        open: OpenConnection,
        cache: ResponseCache?,
        now: NIODeadline
    ) {
        self.limits = limits
        self.counter = counter
        self.written = written
        self.requests = requests
        self.reports = reports
        self.share = share
        self.open = open
        self.cache = cache
        state = HTTP2ConnectionState(limits, now: now)
        stalledWrites = StalledWriteDetector(deadline: TimeAmount(limits.writeDeadline))
        cachedWrites = CachedWrites(deadline: TimeAmount(limits.writeDeadline))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        armTimer(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer.cancel()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer.cancel()
        postponed = []
        context.fireChannelInactive()
    }

    // MARK: Frames

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let block) where !state.isOpen(frame.streamID):
            return arrived(frame, block.headers, context)
        case .data(let data):
            share.decoded(bytes: data.data.readableBytes)
        default:
            break
        }
        if !postpones(frame) { context.fireChannelRead(data) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let frame = Self.unwrapOutboundIn(data)
        if case .headers = frame.payload { answered(frame.streamID, context) }
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        watchWrites(context)
    }

    /// Whether streams are open.
    var hasStreams: Bool { state.hasStreams }

    /// Whether requests may be responded to ahead of NIO.
    var servesRepeated: Bool { !state.isEnding && state.hasRoom && !written.hasFailed }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        resume()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let created as NIOHTTP2StreamCreatedEvent:
            state.opened(created.streamID)
            if let index = postponed.firstIndex(where: { $0.frames[0].streamID == created.streamID }) {
                postponed[index].created = created
                return
            }
        case let closed as StreamClosedEvent:
            ended(closed.streamID, context)
            if state.closed(closed.streamID, now: context.eventLoop.now) { closeLater(context) }
            armTimer(context)
        case is ChannelShouldQuiesceEvent:
            // Not passed on: the streams that are open go on to their ends.
            return end(context)
        case ChannelEvent.inputClosed:
            // No client of HTTP/2 closes its output only.
            return context.close(promise: nil)
        default:
            break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is NIOHTTP2Errors.StreamError:
            context.fireErrorCaught(error)
        case is any NIOHTTP2Error where !written.hasFailed:
            // Of a stream, which NIO has reset.
            break
        default:
            // Once: what NIO writes after its GOAWAY fails as well, such as an update of the connection's window.
            if written.hasFailed, context.channel.isActive { reports.onAbruptClose(.http2) }
            context.close(promise: nil)
        }
    }
}
