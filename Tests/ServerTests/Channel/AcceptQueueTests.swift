import HummingbirdCore
import NIOCore
import NIOEmbedded
import TestKit
import Testing

@testable import Server

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
