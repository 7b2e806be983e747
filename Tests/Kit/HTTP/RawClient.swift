package import Foundation
import NIOCore
import NIOPosix
package import NIOSSL

/// A client that sends the bytes of a test unchanged, over TCP or TLS.
package struct RawClient: ~Copyable {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var unread: [UInt8] = []

    private init(inbound: NIOAsyncChannelInboundStream<ByteBuffer>, outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>)
    {
        self.inbound = inbound.makeAsyncIterator()
        self.outbound = outbound
    }

    /// Connects to a port of the loopback interface, runs `body` and closes.
    ///
    /// - Parameters:
    ///   - port: the port.
    ///   - reads: whether the client reads; otherwise it takes nothing from its socket.
    ///   - receiveBuffer: bytes that the kernel takes for the client (`SO_RCVBUF`); nil for its own choice.
    ///   - address: the address of the client on the loopback network.
    ///   - tls: how it speaks TLS; nil if it does not.
    ///   - body: uses the client.
    package static func connect<Result: Sendable>(
        port: Int,
        reads: Bool = true,
        receiveBuffer: Int? = nil,
        from address: String = "127.0.0.1",
        tls: TLSConfiguration? = nil,
        _ body: (inout RawClient) async throws -> Result
    ) async throws -> Result {
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        if let receiveBuffer {
            let bytes = SocketOptionValue(receiveBuffer)
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: bytes)
        }
        // Event loops are shared by all tests: one that is busy for a while is no server that does not respond.
        let channel =
            try await bootstrap
            .connectTimeout(.seconds(60))
            .channelOption(.autoRead, value: reads)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .bind(to: try SocketAddress(ipAddress: address, port: 0))
            // An address, which needs no resolver: that of NIO waits for a thread of its own while all are busy.
            .connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        let handler = try NIOSSLClientHandler(context: context, serverHostname: "localhost")
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true)
                    )
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var client = RawClient(inbound: inbound, outbound: outbound)
            return try await body(&client)
        }
    }

    package func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    package func send(_ bytes: Data) async throws {
        try await outbound.write(ByteBuffer(bytes: bytes))
    }

    /// Sends a text again and again until the server no longer takes it.
    package func sendEndlessly(_ text: String) async {
        let buffer = ByteBuffer(string: text)
        do {
            while true { try await outbound.write(buffer) }
        } catch {
            // The connection is closed: this ends it.
        }
    }

    /// Closes the sending side only.
    package func finish() { outbound.finish() }

    /// Number of bytes that have arrived behind the received text.
    package var unreadCount: Int { unread.count }

    /// Reads up to and including `mark`.
    package mutating func receive(until mark: String) async throws -> String {
        let mark = Array(mark.utf8)
        while true {
            if let range = unread.firstRange(of: mark) {
                let text = String(decoding: unread[..<range.upperBound], as: UTF8.self)
                unread.removeSubrange(..<range.upperBound)
                return text
            }
            try await receiveMore()
        }
    }

    /// Reads so many bytes.
    package mutating func receive(bytes count: Int) async throws -> [UInt8] {
        while unread.count < count { try await receiveMore() }
        defer { unread.removeFirst(count) }
        return Array(unread.prefix(count))
    }

    private mutating func receiveMore() async throws {
        guard let buffer = try await inbound.next() else {
            throw EndOfInput(received: String(decoding: unread, as: UTF8.self))
        }
        unread += Array(buffer: buffer)
    }

    /// Reads until the server closes, orderly or not.
    package mutating func receiveToEnd() async -> String {
        do {
            while let buffer = try await inbound.next() { unread += Array(buffer: buffer) }
        } catch {
            // A reset: the bytes before it count.
        }
        defer { unread = [] }
        return String(decoding: unread, as: UTF8.self)
    }

    /// The server closed before it had sent the expected text.
    package struct EndOfInput: Error {
        package let received: String
    }
}

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
