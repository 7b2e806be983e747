import Concurrency
import Foundation
import HummingbirdCore
package import NIOCore
import Synchronization

/// Further listeners at the address of a server, so that clients do not wait in one queue of the kernel.
///
/// A listener's queue is in the order of arrival. A client that opens hundreds of connections at once, and closes them
/// again, would have those of all others wait until its own were accepted. With several listeners the address of a
/// client determines whose queue its connections are in; all of them get the handlers of the first listener.
package enum ClientListeners {
    /// Adds listeners to the first one of a server, on its event loop. They close with it.
    /// - Parameters:
    ///   - first: the listener; its port is known
    ///   - burst: connections that each of them accepts before it pauses
    ///   - count: how many listeners there are then
    ///   - places: limits the connections of all of them
    ///   - bind: binds one of them to an address with an initializer of its channel; with `SO_REUSEPORT`
    /// - Throws: `IOError` if the kernel refuses; then there may be fewer listeners.
    package static func add(
        to first: any Channel,
        burst: Int,
        count: Int,
        _ places: ConnectionSlots,
        bind: (SocketAddress, @escaping @Sendable (any Channel) -> EventLoopFuture<Void>) async throws -> any Channel
    ) async throws {
        guard count > 1, let address = first.localAddress, address.port != nil else { return }
        try await first.eventLoop.submit {
            try first.pipeline.syncOperations.addHandler(AcceptPacer(burst: burst), position: .first)
        }.get()
        // Not before: another server that listens at this address would not be noticed.
        try await first.setOption(.socketOption(reusesPort), value: 1).get()
        for _ in 1..<count {
            let further = try await bind(address) { listener in
                listener.eventLoop.makeCompletedFuture {
                    let handlers: [any ChannelHandler] = [AcceptPacer(burst: burst), FurtherListener(first, places)]
                    try listener.pipeline.syncOperations.addHandlers(handlers)
                }
            }
            first.closeFuture.whenComplete { _ in further.close(promise: nil as EventLoopPromise<Void>?) }
        }
        try await first.eventLoop.flatSubmit { ClientAddressFilter(listeners: count).attach(to: first) }.get()
    }

    /// `SO_REUSEPORT`.
    package static let reusesPort = NIOBSDSocket.Option(rawValue: SO_REUSEPORT)
}

/// Passes the connections that a further listener has accepted to the handlers of the first one.
private final class FurtherListener: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private let first: any Channel
    private let places: ConnectionSlots

    init(_ first: any Channel, _ places: ConnectionSlots) {
        self.first = first
        self.places = places
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = Self.unwrapInboundIn(data)
        guard first.isActive else { return connection.close(promise: nil) }
        first.pipeline.fireChannelRead(connection)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        first.pipeline.fireChannelReadComplete()
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        let bound = context.loopBound
        let loop = context.eventLoop
        if places.mayAccept(otherwise: { loop.execute { bound.value.read() } }) { context.read() }
    }
}

/// Pauses a listener after each full burst of connections.
///
/// The event loop would accept hundreds of connections one after the other. Until the last of them, the loops to which
/// connections of other clients were given may have to wait: Linux takes a processor from a thread after 3 ms.
final class AcceptPacer: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private static let pause = TimeAmount.milliseconds(1)

    private let burst: Int
    private var accepted = 0

    init(burst: Int) { self.burst = burst }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        accepted += 1
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        defer { accepted = 0 }
        guard accepted >= burst else { return context.read() }
        let bound = context.loopBound
        _ = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { bound.value.read() }
    }
}

/// Has the kernel choose one of several listeners by the address of the client: a program of classic BPF, whose result
/// is the number of the listener (`SO_ATTACH_REUSEPORT_CBPF`).
private struct ClientAddressFilter {
    /// `struct sock_filter`.
    private struct Instruction {
        let code: UInt16
        var whereTrue: UInt8 = 0
        var whereFalse: UInt8 = 0
        var operand: UInt32 = 0
    }

    /// `struct sock_fprog`.
    private struct Program: @unchecked Sendable {
        let count: UInt16
        let instructions: UnsafePointer<Instruction>
    }

    private static let attach = NIOBSDSocket.Option(rawValue: SO_ATTACH_REUSEPORT_CBPF)
    /// Beginning of the IP header (`SKF_NET_OFF`).
    private static let header = UInt32(bitPattern: -0x10_0000)

    private let instructions: [Instruction]

    init(listeners: Int) {
        instructions = [
            // Bytes 12 to 15 of the header: the address of IPv4; of IPv6 the second half of its network.
            Instruction(code: 0x20, operand: Self.header + 12),
            // Folded, so that networks that differ outside of the last byte are distinguished as well.
            Instruction(code: 0x07),
            Instruction(code: 0x74, operand: 8),
            Instruction(code: 0xAC),
            Instruction(code: 0x94, operand: UInt32(listeners)),
            Instruction(code: 0x16),
        ]
    }

    /// Attaches the program to all listeners at an address. Called on the event loop of the first.
    func attach(to first: any Channel) -> EventLoopFuture<Void> {
        guard let provider = first as? any SocketOptionProvider else {
            return first.eventLoop.makeSucceededVoidFuture()
        }
        return instructions.withUnsafeBufferPointer { instructions in
            guard let start = instructions.baseAddress else { return first.eventLoop.makeSucceededVoidFuture() }
            // The kernel has copied it when the call returns.
            return provider.unsafeSetSocketOption(
                level: .socket,
                name: Self.attach,
                value: Program(count: UInt16(instructions.count), instructions: start)
            )
        }
    }
}

/// Limits the open connections of a server, whichever of its listeners accepted them.
package final class ConnectionSlots: AvailableConnectionsDelegate {
    private struct State {
        var open = 0
        /// Listeners that wait until a connection may be accepted.
        var waiting: [@Sendable () -> Void] = []
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Creates a limit that no connection counts for yet.
    package init(limit: Int) { self.limit = limit }

    func connectionOpened() { state.withLock { $0.open += 1 } }

    func connectionClosed() {
        let resumed = state.withLock { state in
            state.open -= 1
            guard state.open < limit else { return [@Sendable () -> Void]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for resume in resumed { resume() }
    }

    /// Whether another connection may be accepted.
    func isAcceptingNewConnections() -> Bool { state.withLock { $0.open < limit } }

    /// Whether another connection may be accepted; otherwise `resume` is called once that is so.
    func mayAccept(otherwise resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.open >= limit { state.waiting.append(resume) }
            return state.open < limit
        }
    }
}

/// Passes on accepted connections so that clients take turns. The kernel gives them in the order of their arrival, and
/// to set one up costs several times as much as to accept it. Without turns, the only connection of a client would wait
/// for the hundreds of another one that arrived before it.
package final class AcceptQueue: ChannelInboundHandler {
    package typealias InboundIn = any Channel
    package typealias InboundOut = any Channel

    /// Connections that are passed on before the event loop polls its sockets again.
    private static let batch = 16
    /// Time after which it has looked, unless its tasks take longer.
    private static let pause = TimeAmount.microseconds(100)

    private var waiting: RoundRobinQueue<IPAddress?, (channel: any Channel, data: NIOAny)>
    private var isScheduled = false
    private var context: ChannelHandlerContext?

    private init(limit: Int) { waiting = RoundRobinQueue(maximumPerClient: limit) }

    /// Adds the queue to a listening channel, after the handler that limits the number of its connections.
    /// - Parameters:
    ///   - channel: the channel of a Hummingbird server with such a limit
    ///   - limit: largest number of connections of one client that wait; further ones are closed
    /// - Throws: `ChannelPipelineError` if nothing limits them.
    package static func add(to channel: any Channel, limit: Int) async throws {
        try await channel.eventLoop.submit { try add(onLoopOf: channel, limit: limit) }.get()
    }

    /// Adds the queue. Called on the event loop of the channel.
    static func add(onLoopOf channel: any Channel, limit: Int) throws {
        let pipeline = channel.pipeline.syncOperations
        let limiter = try pipeline.handler(type: AvailableConnectionsChannelHandler<ConnectionSlots>.self)
        try pipeline.addHandler(AcceptQueue(limit: limit), position: .after(limiter))
    }

    /// Keeps the event loop's view of the channel.
    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    /// Closes waiting connections: no handler is there to take them.
    package func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        while let next = waiting.popFirst() { next.channel.close(promise: nil) }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = Self.unwrapInboundIn(data)
        let client = channel.remoteAddress.flatMap(IPAddress.init)?.client
        guard waiting.append((channel, data), of: client) else { return channel.close(promise: nil) }
    }

    /// Passes on the connections that were taken, or the first of them.
    package func channelReadComplete(context: ChannelHandlerContext) {
        if !isScheduled { passOn(context) }
        context.fireChannelReadComplete()
    }

    private func passOn(_ context: ChannelHandlerContext) {
        for _ in 0..<Self.batch {
            guard let next = waiting.popFirst() else { return }
            context.fireChannelRead(next.data)
        }
        guard !waiting.isEmpty else { return }
        isScheduled = true
        _ = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.isScheduled = false
            if let context = self.context { self.passOn(context) }
        }
    }
}
