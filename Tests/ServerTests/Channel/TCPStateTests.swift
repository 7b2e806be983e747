import NIOCore
import NIOPosix
import TestKit
import Testing

@testable import Server

struct TCPStateTests {
    /// Ways in which a client ends its connection, or keeps it.
    enum Client: CaseIterable {
        case closes, resets, closesAfterRequest, resetsAfterRequest, halfClosesAfterRequest, staysSilent

        fileprivate var sends: Bool {
            [.closesAfterRequest, .resetsAfterRequest, .halfClosesAfterRequest].contains(self)
        }

        fileprivate func act(_ channel: any Channel) async throws {
            if sends { try await channel.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n")) }
            switch self {
            case .staysSilent: break
            case .halfClosesAfterRequest: try await channel.close(mode: .output)
            case .closes, .closesAfterRequest: try await channel.close()
            case .resets, .resetsAfterRequest:
                let options = try #require(channel as? any SocketOptionProvider)
                try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
                try await channel.close()
            }
        }

        /// The state in which the connection then is, in the numbers of the kernel.
        fileprivate var state: UInt8 {
            switch self {
            case .staysSilent: 1
            case .resets, .resetsAfterRequest: 7
            case .closes, .closesAfterRequest, .halfClosesAfterRequest: 8
            }
        }

        fileprivate var abandons: Bool { [.closes, .resets, .resetsAfterRequest].contains(self) }
    }

    @Test(
        "TRUST-18 A connection that was reset, or closed before a byte was sent, is known before anything is read",
        arguments: Client.allCases
    )
    func kernel(client: Client) async throws {
        let (accepted, source) = AsyncStream.makeStream(of: (any Channel, EventLoopPromise<Void>).self)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                // NIO reads nothing before this is fulfilled.
                let promise = channel.eventLoop.makePromise(of: Void.self)
                source.yield((channel, promise))
                return promise.futureResult
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(server.localAddress)
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true).connect(to: address).get()
        try await client.act(connection)
        var iterator = accepted.makeAsyncIterator()
        let (channel, promise) = try #require(await iterator.next())
        let state: @Sendable () async throws -> TCPState? = {
            try await channel.eventLoop.submit { TCPState(of: channel) }.get()
        }
        try await BoundedWait.poll(for: "the kernel to tell") { try await state()?.state == client.state }
        #expect(try await state()?.isAbandoned == client.abandons)
        promise.fail(ChannelError.eof)
        if client == .staysSilent || client == .halfClosesAfterRequest {
            // Both ends of a half-closed connection are closed once the server has closed its own.
            do { try await connection.close() } catch ChannelError.alreadyClosed {}
        }
        try await server.close()
    }

    @Test("TRUST-18 A server whose clients leave at once serves the others, and a request with a closed output")
    func served() async throws {
        try await LoopbackServer.run { server in
            for _ in 0..<20 { try await RawClient.connect(port: server.port) { _ in } }
            try await RawClient.connect(port: server.port) { client in
                try await client.send("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
                client.finish()
                #expect(await client.receiveToEnd().hasPrefix("HTTP/1.1 "))
            }
        }
    }
}
