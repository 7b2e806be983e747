import NIOCore
import NIOHPACK
import NIOHTTP2

/// The shell around ``HTTP2ConnectionState``, between the frames of a connection and their division into streams: ends
/// the connection, watches whether the client takes what it gets, and sends cached responses before anything of a
/// stream is made. What a request may be, ``ConnectionHandler`` decides on its stream. Its end and its timer are in
/// `HTTP2ConnectionHandler+Closing.swift`.
final class HTTP2ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    let limits: ConnectionLimits
    let share: ConnectionShare
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
    var postponed: [PostponedStream] = []

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
        cache: ResponseCache?,
        now: NIODeadline
    ) {
        self.limits = limits
        self.counter = counter
        self.written = written
        self.requests = requests
        self.reports = reports
        self.share = share
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
        case .headers(let block) where block.endStream && respond(to: frame, block.headers, context) != .missed:
            return
        case .data(let data):
            share.decoded(bytes: data.data.readableBytes)
        default:
            break
        }
        context.fireChannelRead(data)
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
            if let index = postponed.firstIndex(where: { $0.frame.streamID == created.streamID }) {
                postponed[index].created = created
                return
            }
        case let closed as StreamClosedEvent:
            postponed.removeAll { $0.frame.streamID == closed.streamID }
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
