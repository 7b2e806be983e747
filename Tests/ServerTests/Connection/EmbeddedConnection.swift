import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import Server

/// A connection's pipeline up to the front handlers, on an event loop whose time the test moves.
final class EmbeddedConnection {
    /// Units of a client that never waits for its turn.
    static let manyUnits = 1_000_000

    let channel = EmbeddedChannel()
    let socket = FakeSocket()
    let application = RecordingApplication()
    let journal = Journal()
    let annotations = ResponseAnnotations()
    let share: SchedulerShare
    let open: OpenConnection

    init(
        _ limits: ConnectionLimits = .standard,
        responseCache: ResponseCache? = nil,
        clientUnits: Int = manyUnits,
        connections: OpenConnections = OpenConnections(limit: .max, exempt: .none),
        frontHandlers: [any ChannelHandler] = []
    ) throws {
        let journal = journal
        let larder = LarderHTTPChannel(
            responder: { _, _, _ in },
            limits: limits,
            problem: { refusal, head in refusal.testContent(head) },
            onRefusal: { journal.refusals.append($0) },
            onAbruptClose: { journal.cuts.append($0) },
            responseCache: responseCache
        )
        try channel.pipeline.syncOperations.addHandler(socket)
        let loop = channel.embeddedEventLoop
        // No clock is at zero.
        loop.advanceTime(by: .seconds(1))
        let queue = ClientScheduler(clientUnits: clientUnits) { queue, _ in
            loop.assumeIsolated().execute { queue.roundEnded(now: loop.now) }
        }
        // Another client, beside which this one has to wait for its turns.
        _ = queue.begins(.request, of: queue.add(IPAddress("192.0.2.2")), now: loop.now)
        share = SchedulerShare(IPAddress("192.0.2.1"), of: queue)
        open = try connections.admitted(channel)
        try larder.addHTTP1Handlers(to: channel, annotations, share, open)
        try channel.pipeline.syncOperations.addHandlers(frontHandlers)
        try channel.pipeline.syncOperations.addHandler(application)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    }

    func receive(_ text: String) {
        channel.pipeline.fireChannelRead(ByteBuffer(string: text))
        channel.pipeline.fireChannelReadComplete()
        channel.read()
    }

    /// Returns the bytes that were sent since the last call, as text.
    func sent() throws -> String {
        var text = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text
    }

    func advance(seconds: Int64) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
    }
}

extension OpenConnections {
    /// Admits a connection that nothing refuses.
    func admitted(_ channel: any Channel) throws -> OpenConnection {
        guard let open = admit(channel, onEnd: { _ in }) else { throw ChannelError.operationUnsupported }
        return open
    }
}

extension ConnectionRefusal {
    /// The content of a refusal in these tests; its language names the languages that the client accepts.
    func testContent(_ head: RefusedHead?) -> RefusalContent {
        let language = head.map { (["of"] + $0.acceptedLanguages).joined(separator: "+") } ?? "unknown"
        return RefusalContent(
            type: "application/problem+json",
            language: language,
            body: Array(reason.testProblem.utf8)
        )
    }
}

extension ConnectionRefusal.Reason {
    /// A problem document of these tests.
    var testProblem: String {
        switch self {
        case .malformed: #"{"code":"malformed-request"}"#
        case .targetTooLong: #"{"code":"target-too-long"}"#
        case .headersTooLarge: #"{"code":"headers-too-large"}"#
        case .timedOut: #"{"code":"request-timeout"}"#
        case .clearText: #"{"code":"malformed-request","detail":"use https://"}"#
        }
    }
}

/// The refusals and cuts that the connection reported. Only used on the test's own thread.
final class Journal: @unchecked Sendable {
    var refusals: [ConnectionRefusal] = []
    var cuts: [AbruptClose] = []
}

/// Takes the place of the socket: can stop taking bytes, and distinguishes closing the output from closing.
final class FakeSocket: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = ByteBuffer

    var takesBytes = true
    private(set) var isOutputClosed = false
    private(set) var reads = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(let buffer) = Self.unwrapOutboundIn(data) else { return }
        context.write(Self.wrapOutboundOut(buffer), promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        if takesBytes { context.flush() }
    }

    func read(context: ChannelHandlerContext) {
        reads += 1
        context.read()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .output {
            isOutputClosed = true
            promise?.succeed()
        } else {
            context.close(mode: mode, promise: promise)
        }
    }
}

/// An application that records requests and responds only when the test tells it to.
final class RecordingApplication: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private(set) var heads: [HTTPRequestHead] = []
    private(set) var body = ""
    private(set) var ends = 0
    private(set) var errors: [any Error] = []
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head): heads.append(head)
        case .body(let bytes): body += String(buffer: bytes)
        case .end: ends += 1
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        errors.append(error)
    }

    func respond(_ text: String, status: HTTPResponseStatus = .ok, headers: HTTPHeaders? = nil) {
        begin(status: status, headers: headers ?? ["Content-Length": "\(text.utf8.count)"])
        write(text)
        end()
    }

    func begin(status: HTTPResponseStatus = .ok, headers: HTTPHeaders) {
        context?.write(
            Self.wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))),
            promise: nil
        )
    }

    func write(_ text: String) {
        context?.writeAndFlush(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    }

    func end() {
        context?.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }
}

/// A handler that responds to every request at its end, within the read.
final class SynchronousResponder: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private(set) var responded = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = Self.unwrapInboundIn(data) else { return }
        responded += 1
        let text = "n\(responded)"
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "\(text.utf8.count)"])
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        context.write(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }
}
