import HummingbirdCore
public import NIOCore

/// Passes on accepted connections so that clients take turns. The kernel gives them in the order of their arrival, and
/// to set one up costs several times what it takes to accept it: the only connection of one client would wait for the
/// hundreds of another one that arrived before it.
public final class AcceptQueue: ChannelInboundHandler {
    /// An accepted connection.
    public typealias InboundIn = any Channel
    /// An accepted connection.
    public typealias InboundOut = any Channel

    /// Connections that are passed on before the event loop looks at its sockets again.
    private static let turn = 16
    /// Time after which it has looked, unless its tasks take longer.
    private static let pause = TimeAmount.microseconds(100)

    private let limit: Int
    private var waiting = ClientTurns<IPAddress?, (channel: any Channel, data: NIOAny)>()
    private var isScheduled = false
    private var context: ChannelHandlerContext?

    private init(limit: Int) { self.limit = limit }

    /// Adds the queue to a listening channel, behind what limits the number of its connections.
    /// - Parameters:
    ///   - channel: the channel of a Hummingbird server with such a limit
    ///   - limit: largest number of connections of one client that wait; further ones are closed
    /// - Throws: `ChannelPipelineError` if nothing limits them.
    public static func add(to channel: any Channel, limit: Int) async throws {
        try await channel.eventLoop.submit { try add(onLoopOf: channel, limit: limit) }.get()
    }

    /// Adds the queue. Called on the event loop of the channel.
    static func add(onLoopOf channel: any Channel, limit: Int) throws {
        let pipeline = channel.pipeline.syncOperations
        let limiter = try pipeline.handler(type: AvailableConnectionsChannelHandler<ConnectionPlaces>.self)
        try pipeline.addHandler(AcceptQueue(limit: limit), position: .after(limiter))
    }

    /// Keeps the event loop's view of the channel.
    public func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    /// Closes what waits: no handler is there to take it.
    public func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        while let next = waiting.popFirst() { next.channel.close(promise: nil) }
    }

    /// Takes an accepted connection.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = Self.unwrapInboundIn(data)
        let client = channel.remoteAddress.flatMap(IPAddress.init)?.client
        guard waiting.count(of: client) < limit else { return channel.close(promise: nil) }
        waiting.append((channel, data), of: client)
    }

    /// Passes on what was taken, or its first part.
    public func channelReadComplete(context: ChannelHandlerContext) {
        if !isScheduled { passOn(context) }
        context.fireChannelReadComplete()
    }

    private func passOn(_ context: ChannelHandlerContext) {
        for _ in 0..<Self.turn {
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
