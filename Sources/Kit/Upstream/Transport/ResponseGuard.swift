import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL

/// A handler between the HTTP decoder and async-http-client on every connection.
///
/// It writes the given request target (``GuardedRequest``). It passes on the parts of responses that
/// ``ResponseSequence`` permits, and closes the connection with a ``ResponseSequence/Violation`` at anything else. It
/// joins the small parts of a body that arrive together, passes interim responses to their listeners
/// (``InterimListeners``), and ends exchanges that stall (``StallTimer``). It tells a connection that was closed before
/// a response from one that was closed within it (``ClosedConnection``).
final class ResponseGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// Most bytes of a body that are joined into one part.
    static let joinedBytes = 64 << 10
    /// Most bytes that are read at a time, once as much arrives. Each piece is handed from the event loop to the task
    /// that takes it, and on from there, which costs as much for a small one.
    private static let largestPiece = 256 << 10

    private var sequence = ResponseSequence()
    private var timer = StallTimer(limit: .zero, response: .zero)
    private var alarm: (task: Scheduled<Void>, time: NIODeadline)?
    /// Bytes of a body that were not passed on yet.
    private var joined: ByteBuffer?
    private var requests = 0
    private let listeners: InterimListeners
    /// The listener of the request under way.
    private var listener: InterimListeners.Listener?

    private init(_ listeners: InterimListeners) { self.listeners = listeners }

    /// Adds a guard after the decoder of a channel. To be called on its event loop, before a request is written.
    ///
    /// - Throws: `ChannelPipelineError` if the channel has no decoder of responses.
    static func add(to channel: any Channel, _ listeners: InterimListeners) throws {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try pipeline.addHandler(ResponseGuard(listeners), position: .after(decoder))
        let pieces = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 16 << 10, maximum: largestPiece)
        try channel.syncOptions?.setOption(.recvAllocator, value: pieces)
    }

    // MARK: Requests

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if let guarded = GuardedRequest.remove(from: &head.headers) {
                head.uri = guarded.target
                listener = guarded.listener > 0 ? listeners[guarded.listener] : nil
                timer = StallTimer(limit: guarded.stallLimit, response: guarded.responseLimit)
                timer.wrote(isWritable: context.channel.isWritable, at: .now())
            }
            requests += 1
            sequence.requestSent()
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            timer.wrote(isWritable: context.channel.isWritable, at: .now())
            context.write(data, promise: promise)
        case .end:
            timer.wroteEnd(at: .now())
            context.write(data, promise: promise)
        }
        setAlarm(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        timer.writabilityChanged(context.channel.isWritable, at: .now())
        setAlarm(context)
        context.fireChannelWritabilityChanged()
    }

    func read(context: ChannelHandlerContext) {
        timer.asked(at: .now())
        setAlarm(context)
        context.read()
    }

    // MARK: Responses

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch sequence.receive(ResponseSequence.Part(part)) {
        case .pass: pass(part, context)
        case .drop: break
        case .refuse(let violation):
            passJoined(context)
            context.fireErrorCaught(violation)
            context.close(promise: nil)
        }
    }

    private func pass(_ part: HTTPClientResponsePart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let head):
            // An interim response is no progress.
            if head.status.code >= 200 { timer.received(0, at: .now()) } else { passInterim(head) }
        case .body(let bytes):
            timer.received(bytes.readableBytes, at: .now())
            join(bytes, context)
            return
        case .end: timer.ended()
        }
        passJoined(context)
        context.fireChannelRead(wrapInboundOut(part))
    }

    /// Passes an interim response on. Whether the client sends its body is not for the upstream to say.
    private func passInterim(_ head: HTTPResponseHead) {
        guard let listener, head.status != .continue else { return }
        let status = HTTPResponse.Status(code: Int(head.status.code), reasonPhrase: head.status.reasonPhrase)
        listener(HTTPResponse(status: status, headerFields: HTTPClientTransport.fields(head.headers)))
    }

    private func join(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        var bytes = bytes
        if joined == nil { joined = bytes } else { joined?.writeBuffer(&bytes) }
        if let count = joined?.readableBytes, count >= Self.joinedBytes { passJoined(context) }
    }

    private func passJoined(_ context: ChannelHandlerContext) {
        guard let bytes = joined else { return }
        joined = nil
        context.fireChannelRead(wrapInboundOut(.body(bytes)))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passJoined(context)
        context.fireChannelReadComplete()
    }

    // MARK: Ends

    func channelInactive(context: ChannelHandlerContext) {
        passJoined(context)
        clearAlarm()
        if sequence.awaitsResponse { context.fireErrorCaught(ClosedConnection(isReused: requests > 1)) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isReused = requests > 1
        let isLoss = error is IOError || error is ChannelError || error is NIOSSLError
        context.fireErrorCaught(
            isLoss && isReused && sequence.awaitsResponse ? ClosedConnection(isReused: true) : error
        )
    }

    func handlerRemoved(context: ChannelHandlerContext) { clearAlarm() }

    /// Schedules a check of the timer's deadline, unless an earlier one is scheduled.
    private func setAlarm(_ context: ChannelHandlerContext) {
        guard let deadline = timer.deadline else { return }
        if let alarm, alarm.time <= deadline { return }
        clearAlarm()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.ring(context) }
        alarm = (task, deadline)
    }

    private func clearAlarm() {
        alarm?.task.cancel()
        alarm = nil
    }

    private func ring(_ context: ChannelHandlerContext) {
        alarm = nil
        guard let deadline = timer.deadline else { return }
        guard deadline <= .now() else { return setAlarm(context) }
        passJoined(context)
        context.fireErrorCaught(StalledExchange())
        context.close(promise: nil)
    }
}

/// A connection was closed after a request was written, and before a byte of a response.
struct ClosedConnection: Error {
    /// Whether the connection had served an earlier request: its server may have closed it while it was idle.
    let isReused: Bool
}

/// An upstream has made an exchange wait too long (``StallTimer``).
struct StalledExchange: Error {}

extension ResponseSequence.Part {
    init(_ part: HTTPClientResponsePart) {
        switch part {
        case .head(let head): self = .head(status: Int(head.status.code), violation: .init(in: head.headers))
        case .body: self = .body
        case .end: self = .end
        }
    }
}

extension ResponseSequence.Violation {
    /// Longest field, and longest head, in bytes.
    private static let (longestField, longestHead) = (16 << 10, 64 << 10)

    /// Finds the violation of header fields: their size, a `Content-Length` that no body can have, or a transfer
    /// coding that nothing here decodes.
    init?(in headers: HTTPHeaders) {
        var total = 0
        for (name, value) in headers {
            let count = name.utf8.count + value.utf8.count
            total += count + 4
            guard count <= Self.longestField, total <= Self.longestHead else {
                self = .headTooLarge
                return
            }
        }
        guard headers["content-length"].allSatisfy({ Int($0) != nil }) else {
            self = .contentLength
            return
        }
        guard headers["transfer-encoding"].allSatisfy({ $0.lowercased() == "chunked" }) else {
            self = .transferCoding
            return
        }
        return nil
    }
}

/// Properties of a request that the transport passes to the ``ResponseGuard``.
///
/// async-http-client takes the request target from Foundation, whose `URL` has no path if the percent-encoded bytes of
/// one are not UTF-8: the request would be for `/`. So the library gets the origin only. The target travels in a field
/// of the request, which the guard removes before the request is written.
struct GuardedRequest: Sendable, Equatable {
    private static let field = "Larder-Exchange"

    /// The request target (RFC 9112 §3.2.1).
    let target: String
    /// Longest time without progress.
    let stallLimit: TimeAmount
    /// Longest wait for the head of the response.
    let responseLimit: TimeAmount
    /// The number of its listener in ``InterimListeners``; 0 if it has none.
    var listener = 0

    /// Writes the field instead of any in the request.
    func add(to headers: inout HTTPHeaders) {
        headers.replaceOrAdd(
            name: Self.field,
            value: "\(stallLimit.nanoseconds) \(responseLimit.nanoseconds) \(listener) \(target)"
        )
    }

    /// Removes the field.
    ///
    /// - Returns: The properties; nil if there are none.
    static func remove(from headers: inout HTTPHeaders) -> GuardedRequest? {
        let value = headers[field].last
        headers.remove(name: field)
        guard let parts = value?.split(separator: " ", maxSplits: 3), parts.count == 4, let stall = Int64(parts[0]),
            let response = Int64(parts[1]), let listener = Int(parts[2])
        else { return nil }
        return GuardedRequest(
            target: String(parts[3]),
            stallLimit: .nanoseconds(stall),
            responseLimit: .nanoseconds(response),
            listener: listener
        )
    }
}
