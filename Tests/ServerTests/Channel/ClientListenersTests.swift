import HummingbirdCore
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
import TestKit
import Testing

@testable import Server

@Suite("The listeners among which the kernel divides clients", .timeLimit(.minutes(10))) struct ClientListenersTests {
    private static let count = 4

    /// An accepted connection: from where, and by which listener.
    private struct Accepted: Sendable {
        let address: String?
        let listener: ObjectIdentifier?
    }

    /// Records accepted connections where the handlers of a server begin.
    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = any Channel
        typealias InboundOut = any Channel

        private let accepted: AsyncStream<Accepted>.Continuation

        init(_ accepted: AsyncStream<Accepted>.Continuation) { self.accepted = accepted }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let connection = Self.unwrapInboundIn(data)
            let listener = connection.parent.map { ObjectIdentifier($0) }
            accepted.yield(Accepted(address: connection.remoteAddress?.ipAddress, listener: listener))
            context.fireChannelRead(data)
        }
    }

    /// Binds a listener, and the further ones behind it.
    private static func listen(_ accepted: AsyncStream<Accepted>.Continuation) async throws -> any Channel {
        let places = ConnectionSlots(limit: 100)
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let first = try await ServerBootstrap(group: loop)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let limiter = AvailableConnectionsChannelHandler(delegate: places)
                    try channel.pipeline.syncOperations.addHandlers(limiter, Recorder(accepted))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        try await ClientListeners.add(to: first, burst: 16, count: count, places) { address, initializer in
            try await ServerBootstrap(group: loop, childGroup: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(ClientListeners.reusesPort), value: 1)
                .serverChannelInitializer(initializer)
                .bind(to: address).get()
        }
        return first
    }

    @Test("TRUST-18 The connections of each address wait in the queue of one listener, those of others elsewhere")
    func addresses() async throws {
        let (connections, accepted) = AsyncStream.makeStream(of: Accepted.self)
        let first = try await Self.listen(accepted)
        let port = try #require(first.localAddress?.port)
        var iterator = connections.makeAsyncIterator()
        var listeners: [String: Set<ObjectIdentifier>] = [:]
        for _ in 0..<3 {
            for number in 1...Self.count {
                let address = "127.0.0.\(number)"
                try await RawClient.connect(port: port, from: address) { _ in }
                let connection = try #require(await iterator.next())
                #expect(connection.address == address)
                listeners[address, default: []].insert(try #require(connection.listener))
            }
        }
        #expect(listeners.values.allSatisfy { $0.count == 1 })
        #expect(Set(listeners.values.joined()).count == Self.count)
        try await first.close()
    }

    @Test("Another server at the port is noticed, and all listeners close with the first")
    func port() async throws {
        let (_, accepted) = AsyncStream.makeStream(of: Accepted.self)
        let first = try await Self.listen(accepted)
        let address = try #require(first.localAddress)
        await #expect(throws: IOError.self) { try await Self.bindAlone(to: address) }
        try await first.close()
        // Without the others closed as well this would never succeed.
        var second: (any Channel)?
        while second == nil { second = try? await Self.bindAlone(to: address) }
        try await second?.close()
    }

    /// Binds as a server does that knows of no other.
    private static func bindAlone(to address: SocketAddress) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(to: address).get()
    }

    @Test("A listener waits while as many connections are open as may be")
    func places() {
        let places = ConnectionSlots(limit: 2)
        let resumed = NIOLockedValueBox(0)
        let wait: @Sendable () -> Void = { resumed.withLockedValue { $0 += 1 } }
        places.connectionOpened()
        #expect(places.mayAccept(otherwise: wait) && places.isAcceptingNewConnections())
        places.connectionOpened()
        #expect(!places.mayAccept(otherwise: wait) && !places.mayAccept(otherwise: wait))
        #expect(!places.isAcceptingNewConnections() && resumed.withLockedValue { $0 } == 0)
        places.connectionClosed()
        #expect(places.isAcceptingNewConnections() && resumed.withLockedValue { $0 } == 2)
        places.connectionClosed()
        #expect(resumed.withLockedValue { $0 } == 2, "each once")
    }
}

struct AcceptQueueTests {
    /// Records the channels that the queue passes on.
    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = any Channel

        private(set) var passed: [ObjectIdentifier] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            passed.append(ObjectIdentifier(Self.unwrapInboundIn(data)))
        }
    }

    /// A listening channel whose event loop the test moves.
    private struct Listener {
        let channel = EmbeddedChannel()
        let recorder = Recorder()

        init(limit: Int = 1000) throws {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(AvailableConnectionsChannelHandler(delegate: ConnectionSlots(limit: 1000)))
            try pipeline.addHandler(recorder)
            try AcceptQueue.add(onLoopOf: channel, limit: limit)
        }

        /// Accepts connections of these addresses at once.
        func accept(_ addresses: [String]) throws -> [EmbeddedChannel] {
            let accepted = try addresses.map { address in
                let connection = EmbeddedChannel()
                connection.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
                return connection
            }
            for connection in accepted { channel.pipeline.fireChannelRead(connection as any Channel) }
            channel.pipeline.fireChannelReadComplete()
            return accepted
        }
    }

    @Test("TRUST-18 A connection is passed on in the first turn, however many of another client came before it")
    func turns() throws {
        let listener = try Listener()
        let accepted = try listener.accept(Array(repeating: "192.0.2.1", count: 100) + ["192.0.2.2"])
        let calm = ObjectIdentifier(accepted[100])
        let first = listener.recorder.passed
        #expect(first.count < 50 && first.contains(calm))
        for _ in 0..<50 { listener.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1)) }
        #expect(Set(listener.recorder.passed) == Set(accepted.map { ObjectIdentifier($0) }))
        #expect(listener.recorder.passed.count == 101, "each once")
        #expect(listener.recorder.passed.filter { $0 != calm } == accepted[..<100].map { ObjectIdentifier($0) })
    }

    @Test("TRUST-18 More waiting connections of a client than it may have are closed, those of others are not")
    func limit() throws {
        let listener = try Listener(limit: 20)
        let accepted = try listener.accept(Array(repeating: "192.0.2.1", count: 30) + ["192.0.2.2"])
        let closed = accepted.map(\.isClosed)
        #expect(closed[..<20].allSatisfy { !$0 } && closed[20..<30].allSatisfy { $0 } && !closed[30])
    }

    /// Counts the reads that reach the socket.
    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = Never

        private(set) var reads = 0

        func read(context: ChannelHandlerContext) { reads += 1 }
    }

    @Test("TRUST-18 A listener pauses behind a full burst of connections, and only then")
    func bursts() throws {
        let channel = EmbeddedChannel()
        let counter = ReadCounter()
        try channel.pipeline.syncOperations.addHandlers([counter, AcceptPacer(burst: 3)])
        for connections in [1, 2, 3, 2] {
            let before = counter.reads
            for _ in 0..<connections { channel.pipeline.fireChannelRead(EmbeddedChannel() as any Channel) }
            channel.pipeline.read()
            #expect(counter.reads == before + (connections < 3 ? 1 : 0), "after \(connections)")
            channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
            #expect(counter.reads == before + 1)
        }
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("What still waits when the server stops is closed")
    func stop() throws {
        let listener = try Listener()
        let accepted = try listener.accept(Array(repeating: "192.0.2.1", count: 100))
        _ = try listener.channel.finish(acceptAlreadyClosed: true)
        let passed = Set(listener.recorder.passed)
        #expect(passed.count < 50)
        for connection in accepted { #expect(connection.isClosed != passed.contains(ObjectIdentifier(connection))) }
    }
}

extension EmbeddedChannel {
    fileprivate var isClosed: Bool {
        var isClosed = false
        closeFuture.assumeIsolated().whenComplete { _ in isClosed = true }
        embeddedEventLoop.run()
        return isClosed
    }
}
