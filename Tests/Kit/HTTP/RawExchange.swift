import NIOCore
import NIOPosix

/// The bytes received over one TCP connection, and its end.
package struct RawExchange: Sendable {
    /// The bytes.
    package private(set) var received: [UInt8] = []
    /// How it ended: nil for FIN.
    package private(set) var error: (any Error)?

    /// The bytes as text.
    package var text: String { String(decoding: received, as: UTF8.self) }

    /// Whether the peer sent RST.
    package var wasReset: Bool { (error as? IOError)?.errnoCode == ECONNRESET }

    /// Sends bytes over a connection of its own and reads until the peer closes it.
    ///
    /// - Parameters:
    ///   - port: the port on the loopback interface.
    ///   - first: bytes that are sent at once.
    ///   - later: bytes that are each sent when the received ones end with their `after`.
    /// - Throws: the error of the connection if none could be made.
    package init(port: Int, send first: String, later: [(after: String, send: String)] = []) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(
            host: "127.0.0.1",
            port: port
        ) { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        self = try await channel.executeThenClose { inbound, outbound in
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

    private init() {}
}
