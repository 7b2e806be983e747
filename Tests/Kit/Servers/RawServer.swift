import NIOCore
import NIOPosix

/// A server on a free port of the loopback interface that sends bytes of the test's own, whatever it receives.
package final class RawServer: Sendable {
    /// The bytes that have arrived on a connection since the last response.
    package struct Received: Sendable {
        /// The bytes as text.
        package let text: String
        /// The port that they arrived at.
        package let port: Int

        /// The server's own address, without a trailing slash.
        package var url: String { "http://127.0.0.1:\(port)" }
        /// The parts of the request line.
        package var words: [Substring] { text.prefix { $0 != "\r\n" }.split(separator: " ") }
        /// The target of the request.
        package var path: String { words.count > 1 ? String(words[1]) : "/" }
    }

    /// Bytes to send, and the end of the connection after them.
    package struct Response: Sendable {
        /// Whether the connection stays open, is closed, or is reset.
        package enum Ending: Sendable { case stays, closes, resets }

        /// The bytes in the pieces in which they are written.
        package let pieces: [[UInt8]]
        package let ending: Ending

        package init(pieces: [[UInt8]], ending: Ending) {
            self.pieces = pieces
            self.ending = ending
        }

        /// These bytes; the connection stays open.
        package static func response(_ text: String) -> Response {
            Response(pieces: [Array(text.utf8)], ending: .stays)
        }

        /// These bytes, then the end of the connection.
        package static func respondThenClose(_ text: String) -> Response {
            Response(pieces: [Array(text.utf8)], ending: .closes)
        }

        /// RST instead of a response.
        package static let reset = Response(pieces: [], ending: .resets)
        /// Nothing, ever.
        package static let silence = Response(pieces: [], ending: .stays)
    }

    /// The requests and connections so far.
    package struct Log: Sendable {
        package var requests: [String] = []
        package var accepted = 0
        package var closed = 0
    }

    package let log: Watched<Log>
    private let channel: any Channel

    package var port: Int { channel.localAddress?.port ?? 0 }
    /// The address, without a trailing slash.
    package var url: String { "http://127.0.0.1:\(port)" }

    /// Starts a server.
    ///
    /// - Parameter respond: Returns the response to the received bytes, or nil if they are not a whole request yet.
    package init(_ respond: @escaping @Sendable (Received) -> Response?) async throws {
        let log = Watched(Log())
        self.log = log
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RawServerHandler(log, respond))
                }
            }
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// Starts a server that responds to each request without a body by its path and the server's own address.
    package convenience init(byPath response: @escaping @Sendable (_ path: String, _ url: String) -> String)
        async throws
    {
        try await self.init { $0.text.hasSuffix("\r\n\r\n") ? .response(response($0.path, $0.url)) : nil }
    }

    /// Runs a test with a server that is gone afterwards.
    ///
    /// - Parameters:
    ///   - responses: The responses to one head of a request after the other; behind the last one it is silent.
    ///   - test: The test.
    package static func with(_ responses: Response..., test: (RawServer) async throws -> Void) async throws {
        let left = Watched(responses)
        let server = try await RawServer { received in
            // A TLS handshake has no empty line; it gets the response at once.
            guard received.text.contains("\r\n\r\n") || received.text.hasPrefix("\u{16}") else { return nil }
            return left.update { $0.isEmpty ? .silence : $0.removeFirst() }
        }
        try await test(server)
        try await server.close()
    }

    deinit { channel.close(promise: nil) }

    /// Stops listening.
    package func close() async throws { try await channel.close() }
}

private final class RawServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let log: Watched<RawServer.Log>
    private let respond: @Sendable (RawServer.Received) -> RawServer.Response?
    private var received = ""
    private var isOver = false

    init(_ log: Watched<RawServer.Log>, _ respond: @escaping @Sendable (RawServer.Received) -> RawServer.Response?) {
        self.log = log
        self.respond = respond
    }

    func channelActive(context: ChannelHandlerContext) { log.update { $0.accepted += 1 } }
    func channelInactive(context: ChannelHandlerContext) { log.update { $0.closed += 1 } }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        received += String(buffer: unwrapInboundIn(data))
        let request = RawServer.Received(text: received, port: context.localAddress?.port ?? 0)
        guard let response = respond(request) else { return }
        log.update { $0.requests.append(request.text) }
        received = ""
        isOver = response.ending != .stays
        let channel = context.channel
        for piece in response.pieces { channel.writeAndFlush(ByteBuffer(bytes: piece), promise: nil) }
        switch response.ending {
        case .stays: break
        case .closes: channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
        case .resets:
            let lingering = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            (lingering ?? channel.eventLoop.makeSucceededVoidFuture()).whenComplete { _ in channel.close(promise: nil) }
        }
    }
}
