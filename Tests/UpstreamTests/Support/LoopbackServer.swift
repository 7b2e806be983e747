import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestKit

/// A server on a free port of the loopback interface that does to each request, whole headers at a time, what the test
/// says; bytes are the test's own.
final class LoopbackServer: Sendable {
    enum Behaviour: Sendable {
        /// These bytes; the connection stays open.
        case response(String)
        /// These bytes, then the end of the connection.
        case respondThenClose(String)
        /// RST instead of a response.
        case reset
        /// Nothing, ever.
        case silence
    }

    struct Log: Sendable {
        var behaviours: [Behaviour] = []
        var requests: [String] = []
        var accepted = 0
        var closed = 0
    }

    let log = Watched(Log())
    private let channel: any Channel

    var port: Int { channel.localAddress?.port ?? 0 }
    var url: String { "http://127.0.0.1:\(port)/" }

    init(_ behaviours: Behaviour...) async throws {
        let log = self.log
        log.update { $0.behaviours = behaviours }
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(log: log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    deinit { channel.close(promise: nil) }

    func close() async throws { try await channel.close() }

    /// Runs a test with a server that is gone afterwards.
    static func with(_ behaviours: Behaviour..., test: (LoopbackServer) async throws -> Void) async throws {
        let server = try await LoopbackServer()
        server.log.update { $0.behaviours = behaviours }
        try await test(server)
        try await server.close()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let log: Watched<Log>
        private var received = ""

        init(log: Watched<Log>) { self.log = log }

        func channelActive(context: ChannelHandlerContext) { log.update { $0.accepted += 1 } }
        func channelInactive(context: ChannelHandlerContext) { log.update { $0.closed += 1 } }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += String(buffer: unwrapInboundIn(data))
            // A TLS handshake has no empty line; it gets the behaviour at once.
            guard received.contains("\r\n\r\n") || received.hasPrefix("\u{16}") else { return }
            let request = received
            received = ""
            let behaviour = log.update { log -> Behaviour in
                log.requests.append(request)
                return log.behaviours.isEmpty ? .silence : log.behaviours.removeFirst()
            }
            switch behaviour {
            case .response(let text): context.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
            case .respondThenClose(let text):
                let context = NIOLoopBound(context, eventLoop: context.eventLoop)
                context.value.writeAndFlush(NIOAny(ByteBuffer(string: text))).whenComplete { _ in
                    context.value.close(promise: nil)
                }
            case .reset:
                let channel = context.channel
                let lingering = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                (lingering ?? context.eventLoop.makeSucceededVoidFuture()).whenComplete { _ in
                    channel.close(promise: nil)
                }
            case .silence: break
            }
        }
    }
}
