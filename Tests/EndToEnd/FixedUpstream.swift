import NIOCore
import NIOPosix

/// An upstream that responses each request without a body with the bytes that the test gives for its path.
final class FixedUpstream: Sendable {
    let url: String
    private let channel: any Channel

    /// Answers everything with the same bytes.
    convenience init(_ response: String) async throws {
        try await self.init { _, _ in response }
    }

    /// Answers a path with what `response` makes of it; it is also given the upstream's own URL.
    init(_ response: @escaping @Sendable (_ path: String, _ url: String) -> String) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(response))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        url = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
    }

    deinit { channel.close(promise: nil) }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let response: @Sendable (String, String) -> String
        private var received = ""

        init(_ response: @escaping @Sendable (String, String) -> String) { self.response = response }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += String(buffer: unwrapInboundIn(data))
            guard received.hasSuffix("\r\n\r\n") else { return }
            let words = received.split(separator: " ", maxSplits: 2).map(String.init)
            received = ""
            let url = "http://127.0.0.1:\(context.localAddress?.port ?? 0)"
            context.writeAndFlush(
                NIOAny(ByteBuffer(string: response(words.count > 1 ? words[1] : "/", url))),
                promise: nil
            )
        }
    }
}
