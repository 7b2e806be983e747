import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// An upstream that responses `/case/N` with the bytes of case N, `/healthy/X` with `healthy X`, and all else with a
/// short response.
final class WireServer: Sendable {
    private let seed: UInt64
    private let channel: any Channel

    var port: Int { channel.localAddress?.port ?? 0 }
    var url: String { "http://127.0.0.1:\(port)" }

    init(seed: UInt64) async throws {
        self.seed = seed
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(seed: seed))
                }
            }
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() async throws { try await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let seed: UInt64
        private var received = ""
        private var isOver = false

        init(seed: UInt64) { self.seed = seed }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isOver else { return }
            received += String(buffer: unwrapInboundIn(data))
            guard let head = received.firstRange(of: "\r\n\r\n") else { return }
            let request = received[..<head.lowerBound]
            let words = request.split(separator: " ", maxSplits: 2).map(String.init)
            let path = words.count > 1 ? words[1] : "/"
            let port = context.localAddress?.port ?? 0
            let wireCase = Self.number(path).map { WireCase(seed: seed, number: $0, port: port) }
            if let wireCase, wireCase.isEarly { return send(wireCase, context) }
            if words.first == "POST" {
                // The bodies of ``WireRun`` end with this line; in chunks, the last chunk follows it.
                let isChunked = request.lowercased().contains("transfer-encoding: chunked")
                guard received.hasSuffix(isChunked ? "\r\n0\r\n\r\n" : "end\n") else { return }
            }
            received = ""
            if let wireCase { send(wireCase, context) } else { response(path, isHEAD: words.first == "HEAD", context) }
        }

        private func response(_ path: String, isHEAD: Bool, _ context: ChannelHandlerContext) {
            let body = path.hasPrefix("/healthy/") ? "healthy \(path.dropFirst(9))" : "ok"
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            context.writeAndFlush(NIOAny(ByteBuffer(string: isHEAD ? head : head + body)), promise: nil)
        }

        private static func number(_ path: String) -> Int? {
            path.hasPrefix("/case/") ? Int(path.dropFirst(6)) : nil
        }

        private func send(_ wireCase: WireCase, _ context: ChannelHandlerContext) {
            let channel = context.channel
            if wireCase.ending != .stays { isOver = true }
            for piece in wireCase.pieces { channel.writeAndFlush(ByteBuffer(bytes: piece), promise: nil) }
            switch wireCase.ending {
            case .stays: break
            case .closes: channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
            case .resets:
                let lingering = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                (lingering ?? channel.eventLoop.makeSucceededVoidFuture()).whenComplete { _ in
                    channel.close(promise: nil)
                }
            }
        }
    }
}
