import HummingbirdCore
package import NIOCore

/// Passes on accepted connections so that clients take turns. The kernel gives them in the order of their arrival, and
/// to set one up costs several times as much as to accept it: the only connection of one client would wait for the
/// hundreds of another one that arrived before it.
package final class AcceptQueue: ChannelInboundHandler {
    /// An accepted connection.
    package typealias InboundIn = any Channel
    /// An accepted connection.
    package typealias InboundOut = any Channel

    /// Connections that are passed on before the event loop looks at its sockets again.
    private static let batch = 16
    /// Time after which it has looked, unless its tasks take longer.
    private static let pause = TimeAmount.microseconds(100)

    private let limit: Int
    private var waiting = RoundRobinQueue<IPAddress?, (channel: any Channel, data: NIOAny)>()
    private var isScheduled = false
    private var context: ChannelHandlerContext?

    private init(limit: Int) { self.limit = limit }

    /// Adds the queue to a listening channel, behind the handler that limits the number of its connections.
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

    /// Takes an accepted connection.
    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = Self.unwrapInboundIn(data)
        let client = channel.remoteAddress.flatMap(IPAddress.init)?.client
        guard waiting.count(of: client) < limit else { return channel.close(promise: nil) }
        waiting.append((channel, data), of: client)
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
