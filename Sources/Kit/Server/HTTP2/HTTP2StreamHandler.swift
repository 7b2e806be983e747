import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// A stream in the terms of HTTP/1.1, so that ``ConnectionHandler`` serves both: the frames of a request become the
/// parts of one, and those of its response frames. The end of a connection after a response is the end of the stream.
final class HTTP2StreamHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// Bytes of a frame: that much has to be taken for a client to count as one that reads.
    static let frameBytes = 16 << 10

    private let counter: ByteCounter
    private let connection: ConnectionHandler
    var recording: ResponseRecording?
    /// The head of the request, if its response may be recorded.
    var candidate: ByteBuffer?
    private var isRequestBegun = false
    private var isHEAD = false
    /// Succeeds once the client has taken the end of the response; nil before that was written.
    private var end: EventLoopFuture<Void>?

    init(connection: ConnectionHandler, cache: ResponseCache?) {
        counter = connection.counter
        counter.waiting = 0
        self.connection = connection
        recording = cache.map { ResponseRecording($0) }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if recording != nil { connection.observer = self }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        connection.observer = nil
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .headers(let block) where isRequestBegun:
            context.fireChannelRead(Self.wrapInboundOut(.end(HTTPHeaders(block.headers.map { ($0.name, $0.value) }))))
        case .headers(let block):
            isRequestBegun = true
            let head = HTTP2RequestHead(block.headers)
            isHEAD = head.method == "HEAD"
            if block.endStream, recording != nil { candidate = head.cacheKey }
            context.fireChannelRead(Self.wrapInboundOut(.head(head.request(hasBody: !block.endStream))))
            if block.endStream { context.fireChannelRead(Self.wrapInboundOut(.end(nil))) }
        case .data(let data):
            if case .byteBuffer(let bytes) = data.data, bytes.readableBytes > 0 {
                context.fireChannelRead(Self.wrapInboundOut(.body(bytes)))
            }
            if data.endStream { context.fireChannelRead(Self.wrapInboundOut(.end(nil))) }
        default:
            break
        }
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(let head):
            recording?.append(head)
            let isFinal = head.status.code >= 200
            let isWhole = isFinal && (isHEAD || head.status == .noContent || head.status == .notModified)
            write(.headers(.init(headers: Self.block(head), endStream: isWhole)), endStream: isWhole, promise, context)
        case .body(.byteBuffer(let bytes)) where end == nil && bytes.readableBytes > 0:
            recording?.append(bytes)
            write(bytes, promise, context)
        case .end(let trailers) where end == nil:
            let last: HTTP2Frame.FramePayload =
                if let trailers {
                    .headers(.init(headers: HPACKHeaders(httpHeaders: trailers), endStream: true))
                } else {
                    .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true))
                }
            write(last, endStream: true, promise, context)
        case .body, .end:
            // Nothing more is written: a promise for earlier bytes is that of the end.
            if let end { end.cascade(to: promise) } else { promise?.succeed() }
        }
    }

    private static func block(_ head: HTTPResponseHead) -> HPACKHeaders {
        var block = HPACKHeaders()
        block.reserveCapacity(head.headers.count + 1)
        block.add(name: ":status", value: String(head.status.code))
        // Leaves out fields of the connection (RFC 9113 §8.2.2).
        for (name, value, _) in HPACKHeaders(httpHeaders: head.headers, normalizeHTTPHeaders: true) {
            block.add(name: name, value: value, indexing: HeaderBlock.indexing(of: name))
        }
        return block
    }

    private func write(
        _ payload: HTTP2Frame.FramePayload,
        endStream: Bool,
        _ promise: EventLoopPromise<Void>?,
        _ context: ChannelHandlerContext
    ) {
        guard endStream else { return context.write(Self.wrapOutboundOut(payload), promise: promise) }
        let promise = promise ?? context.eventLoop.makePromise()
        end = promise.futureResult
        context.write(Self.wrapOutboundOut(payload), promise: promise)
    }

    /// Writes a body in pieces, so that it is known how much of it the client has taken.
    private func write(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        var rest = bytes
        connection.open.hold(bytes.readableBytes)
        counter.sent += bytes.readableBytes
        counter.waiting = (counter.waiting ?? 0) + bytes.readableBytes
        while let piece = rest.readSlice(length: min(rest.readableBytes, Self.frameBytes)), piece.readableBytes > 0 {
            let isLast = rest.readableBytes == 0
            let taken = isLast ? promise ?? context.eventLoop.makePromise() : context.eventLoop.makePromise()
            taken.futureResult.assumeIsolated().whenComplete { [counter, open = connection.open] _ in
                counter.waiting = (counter.waiting ?? 0) - piece.readableBytes
                open.hold(-piece.readableBytes)
            }
            context.write(Self.wrapOutboundOut(.data(.init(data: .byteBuffer(piece)))), promise: taken)
        }
    }

    /// The end of the output after a response tells the client to send no more of its request (RFC 9113 §8.1).
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output, end != nil else { return context.close(mode: .all, promise: promise) }
        context.writeAndFlush(Self.wrapOutboundOut(.rstStream(.noError)), promise: promise)
    }
}

extension HTTP2StreamHandler: ExchangeObserver {
    func requestBegins(_ head: HTTPRequestHead) {
        recording?.begin(head, bytes: candidate)
        candidate = nil
    }

    func responseBegins(_ annotations: ResponseAnnotations.Values) { recording?.responseBegins(annotations) }

    func responseEnded(now: NIODeadline) { recording?.end(now: now) }

    func responseAbandoned() { recording?.abandon() }
}
