import NIOCore
import NIOPosix

/// What came back over one TCP connection.
struct RawExchange: Sendable {
    var received: [UInt8] = []
    /// How it ended: nil for FIN.
    var error: (any Error)?

    var text: String { String(decoding: received, as: UTF8.self) }

    /// Whether the peer sent RST.
    var wasReset: Bool { (error as? IOError)?.errnoCode == ECONNRESET }
}

/// Sends bytes over a connection of its own and reads until the peer closes it. Each of `later` is sent when what was
/// received ends with its `after`.
func rawExchange(port: Int, send first: String, later: [(after: String, send: String)] = []) async throws -> RawExchange
{
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(
        host: "127.0.0.1",
        port: port
    ) { channel in
        channel.eventLoop.makeCompletedFuture {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
    }
    return try await channel.executeThenClose { inbound, outbound in
        var exchange = RawExchange()
        var later = later[...]
        do {
            try await outbound.write(ByteBuffer(string: first))
            for try await buffer in inbound {
                exchange.received += Array(buffer: buffer)
                if let next = later.first, exchange.text.hasSuffix(next.after) {
                    later = later.dropFirst()
                    try await outbound.write(ByteBuffer(string: next.send))
                }
            }
        } catch {
            exchange.error = error
        }
        return exchange
    }
}
