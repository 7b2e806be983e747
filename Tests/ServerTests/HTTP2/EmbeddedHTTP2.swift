import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import Synchronization

@testable import Server

/// The pipeline of an HTTP/2 connection with its streams, and a client of frames, on an event loop whose time the test
/// moves.
final class EmbeddedHTTP2 {
    let server = EmbeddedChannel()
    let client: EmbeddedChannel
    let socket = FakeSocket()
    let journal = Journal()
    let open: OpenConnection
    /// Largest piece in which the server receives the client's bytes.
    var piece = Int.max
    /// Counts the header blocks that NIO has decoded.
    let decoded = HeaderBlockCounter()
    /// The streams that reached the application, in their order.
    private(set) var streams: [EmbeddedStream] = []
    /// The frames that the client has received so far.
    private var received: [HTTP2Frame] = []
    private var nextStream = 1

    /// - Parameters:
    ///   - window: the client's window of each stream
    ///   - raw: the bytes that the client sends in place of frames
    init(
        _ limits: ConnectionLimits = .standard,
        responseCache: ResponseCache? = nil,
        clientUnits: Int = EmbeddedConnection.manyUnits,
        window: Int = 65_535,
        connections: OpenConnections = OpenConnections(limit: .max, exempt: .none),
        raw: [UInt8]? = nil
    ) throws {
        client = EmbeddedChannel(loop: server.embeddedEventLoop)
        // No clock is at zero.
        server.embeddedEventLoop.advanceTime(by: .seconds(1))
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        server.connect(to: address, promise: nil)
        try server.pipeline.syncOperations.addHandler(socket)
        open = try connections.admitted(server)
        try serve(larder(limits, responseCache), clientUnits)
        if let raw {
            inject(raw)
        } else {
            try client.pipeline.syncOperations.addHandler(Self.frames(window: window))
            client.connect(to: address, promise: nil)
            pump()
        }
    }

    private func larder(_ limits: ConnectionLimits, _ responseCache: ResponseCache?) -> LarderHTTPChannel {
        LarderHTTPChannel(
            responder: { _, _, _ in },
            limits: limits,
            problem: { refusal, head in refusal.testContent(head) },
            onRefusal: { [journal] in journal.refusals.append($0) },
            onAbruptClose: { [journal] in journal.cuts.append($0) },
            responseCache: responseCache
        )
    }

    private func serve(_ larder: LarderHTTPChannel, _ clientUnits: Int) throws {
        let loop = server.embeddedEventLoop
        let queue = ClientScheduler(clientUnits: clientUnits) { queue, _ in
            loop.assumeIsolated().execute { queue.roundEnded(now: loop.now) }
        }
        // Another client, beside which this one has to wait for its turns.
        _ = queue.begins(.request, of: queue.add(IPAddress("192.0.2.2")), now: loop.now)
        let share = SchedulerShare(IPAddress("192.0.2.1"), of: queue)
        let (opened, bound) = (NIOLoopBound(self, eventLoop: loop), NIOLoopBound(share, eventLoop: loop))
        let pipeline = server.pipeline.syncOperations
        try larder.addHTTP2Handlers(to: server, share, open) { [open] channel in
            channel.eventLoop.makeCompletedFuture {
                let stream = EmbeddedStream(channel: channel)
                try larder.addStreamHandlers(to: channel, stream.annotations, bound.value, open)
                try channel.pipeline.syncOperations.addHandler(stream.application)
                opened.value.streams.append(stream)
            }
        }
        try pipeline.addHandler(decoded, position: .after(try pipeline.handler(type: NIOHTTP2Handler.self)))
    }

    /// A client without validation, which can send frames and fields that no other client would.
    private static func frames(window: Int) -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = nioDefaultSettings + [HTTP2Setting(parameter: .initialWindowSize, value: window)]
        connection.headerBlockValidation = .disabled
        connection.contentLengthValidation = .disabled
        return NIOHTTP2Handler(mode: .client, connectionConfiguration: connection)
    }

    /// Opens a stream with a request.
    @discardableResult
    func request(
        _ path: String = "/a",
        method: String = "GET",
        _ fields: [(String, String)] = [],
        authority: String = "a",
        endStream: Bool = true
    ) -> HTTP2StreamID {
        let stream = HTTP2StreamID(nextStream)
        nextStream += 2
        let pseudo = [(":method", method), (":scheme", "https"), (":authority", authority), (":path", path)]
        send(stream, .headers(.init(headers: HPACKHeaders(pseudo + fields), endStream: endStream)))
        return stream
    }

    func send(_ stream: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload) {
        client.writeAndFlush(HTTP2Frame(streamID: stream, payload: payload), promise: nil)
        pump()
    }

    func send(_ stream: HTTP2StreamID, _ text: String, endStream: Bool) {
        send(stream, .data(.init(data: .byteBuffer(ByteBuffer(string: text)), endStream: endStream)))
    }

    /// Moves bytes between client and server until there are none.
    func pump() {
        var isMoving = true
        while isMoving {
            isMoving = false
            server.embeddedEventLoop.run()
            while let bytes = try? server.readOutbound(as: ByteBuffer.self) {
                isMoving = true
                client.pipeline.fireChannelRead(bytes)
                client.pipeline.fireChannelReadComplete()
            }
            while let bytes = try? client.readOutbound(as: ByteBuffer.self) {
                isMoving = true
                receive(bytes)
            }
        }
        while let frame = try? client.readInbound(as: HTTP2Frame.self) { received.append(frame) }
    }

    private func receive(_ bytes: ByteBuffer) {
        var bytes = bytes
        while let next = bytes.readSlice(length: min(piece, bytes.readableBytes)), next.readableBytes > 0 {
            server.pipeline.fireChannelRead(next)
            server.pipeline.fireChannelReadComplete()
        }
    }

    /// Sends bytes of which the client knows nothing.
    func inject(_ bytes: [UInt8]) {
        receive(ByteBuffer(bytes: bytes))
        server.embeddedEventLoop.run()
    }

    /// The frames that the server has sent since the last look, if there is no client.
    func frames() throws -> [RawFrame] {
        var (bytes, frames) = (ByteBuffer(), [RawFrame]())
        while var next = try server.readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&next) }
        while let head = bytes.readSlice(length: HTTP2FrameHead.size),
            let kind = head.getInteger(at: head.readerIndex + 3, as: UInt8.self)
        {
            let frame = head.withUnsafeReadableBytes { HTTP2FrameHead($0) }
            let payload = bytes.readBytes(length: frame.length) ?? []
            frames.append(RawFrame(kind: kind, flags: frame.flags, stream: frame.stream, payload: payload))
        }
        return frames
    }

    func advance(seconds: Int64) {
        server.embeddedEventLoop.advanceTime(by: .seconds(seconds))
        pump()
    }

    /// Returns the frames that the client has received on a stream, as one response.
    func response(on stream: HTTP2StreamID) -> StreamResponse {
        pump()
        var response = StreamResponse()
        for frame in received where frame.streamID == stream { response.note(frame.payload) }
        return response
    }

    /// The error codes of the connection's ends that the client has received.
    var goAways: [(last: HTTP2StreamID, code: HTTP2ErrorCode)] {
        pump()
        return received.compactMap {
            if case .goAway(let last, let code, _) = $0.payload { (last, code) } else { nil }
        }
    }
}

/// A stream on the server, up to its application. Only used on the test's own thread.
final class EmbeddedStream: @unchecked Sendable {
    let channel: any Channel
    let application = RecordingApplication()
    let annotations = ResponseAnnotations()
    private let departures = Atomic(0)

    init(channel: any Channel) { self.channel = channel }

    /// Begins work that is given up if the client leaves.
    func beginWork() { _ = annotations.presence.begin { self.departures.add(1, ordering: .relaxed) } }

    /// Whether work was given up.
    var hasLeft: Bool { departures.load(ordering: .relaxed) > 0 }
}

/// A response of HTTP/2.
struct StreamResponse: Equatable {
    /// Header blocks, each as the list of its fields.
    var heads: [[String]] = []
    var body = ""
    var isEnded = false
    var reset: HTTP2ErrorCode?

    mutating func note(_ payload: HTTP2Frame.FramePayload) {
        switch payload {
        case .headers(let block):
            heads.append(block.headers.map { "\($0.name): \($0.value)" })
            isEnded = block.endStream
        case .data(let data):
            if case .byteBuffer(let bytes) = data.data { body += String(buffer: bytes) }
            isEnded = data.endStream
        case .rstStream(let code):
            reset = code
        default:
            break
        }
    }

    /// The status of the last header block.
    var status: String? { heads.last?.first }
}
