import HTTPServer
import Logging
import NIOCore

/// How many connections are accepted at a time. With NIO's own four, the last of hundreds that arrive at once waits for
/// dozens of turns of the event loop, each as long as all open connections keep it busy.
struct ConnectionBurst {
    /// Connections accepted in one turn.
    let size: Int
    /// Hummingbird looks at its limit between two bursts only: this is so much lower that a whole burst does not exceed
    /// the configured limit, and so a burst is a small part of it.
    let limit: Int

    init(connections: Int) {
        size = min(128, max(1, connections / 16))
        limit = connections - (size - 1)
    }

    /// Sets the size on a listening channel, and has clients take turns. If that fails, NIO's own order stays.
    /// - Parameter clientLimit: largest number of connections of one client that wait for its turns
    func apply(to channel: any Channel, clientLimit: Int, logger: Logger) async {
        do {
            try await AcceptQueue.add(to: channel, limit: clientLimit)
            try await channel.setOption(.maxMessagesPerRead, value: UInt(size)).get()
        } catch {
            logger.warning("connections are accepted in the order of their arrival", metadata: ["error": "\(error)"])
        }
    }
}
