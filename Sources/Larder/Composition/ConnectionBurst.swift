import HTTPServer
import Logging
import NIOCore
import NIOPosix

/// How many connections are accepted at a time, and by how many listeners. With NIO's own four, the last of hundreds
/// that arrive at once waits for dozens of turns of the event loop; with a hundred, what is open waits for
/// milliseconds.
struct ConnectionBurst {
    /// Connections that a listener accepts in one turn.
    let size: Int
    /// Listeners among which the kernel divides clients.
    let listeners: Int
    /// Limits of connections are looked at between two bursts only: this is so much lower that a whole burst of each
    /// listener does not exceed the configured limit, and so a burst is a small part of it.
    let limit: Int

    init(connections: Int) {
        listeners = connections >= 128 ? 8 : 1
        size = min(16, max(1, connections / 16 / listeners))
        limit = connections - (size * listeners - 1)
    }

    /// Adds the listeners, and has clients take turns. If that fails, NIO's own order stays.
    /// - Parameter clientLimit: largest number of connections of one client that wait for its turns
    func apply(to channel: any Channel, _ places: ConnectionPlaces, clientLimit: Int, logger: Logger) async {
        do {
            try await AcceptQueue.add(to: channel, limit: clientLimit)
            try await channel.setOption(.maxMessagesPerRead, value: UInt(size)).get()
            try await ClientListeners.add(to: channel, count: listeners, places) { address, initializer in
                try await ServerBootstrap(group: channel.eventLoop, childGroup: MultiThreadedEventLoopGroup.singleton)
                    .serverChannelOption(.backlog, value: 256)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .serverChannelOption(.socketOption(ClientListeners.reusesPort), value: 1)
                    .serverChannelOption(.maxMessagesPerRead, value: UInt(size))
                    .serverChannelInitializer(initializer)
                    .bind(to: address).get()
            }
        } catch {
            logger.warning("connections are accepted in the order of their arrival", metadata: ["error": "\(error)"])
        }
    }
}
