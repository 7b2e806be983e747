import Concurrency

/// Receives the messages that servers send after their commits, on a connection of its own.
///
/// Messages sent while the listener is not connected are lost. So readers also need a time after which they check
/// again, and at ``Event/connected`` anything may have changed.
package final class ChangeListener: Sendable {
    package enum Event: Sendable, Equatable {
        /// It hears from now on.
        case connected
        /// It hears nothing, until ``connected``: its connection was lost, or could not be made.
        case disconnected(SharedStoreError)
        case message(String)
    }

    /// How long a connection may be silent before the server is asked whether it is still there.
    private static let heartbeat: Int32 = 1000
    /// How long after a failure the next attempt begins.
    private static let pause: Int32 = 500

    private let options: SharedDatabaseOptions
    private let report: @Sendable (Event) -> Void
    private let queue = SerialQueue(label: "larder.store.listener")

    /// Creates a listener.
    ///
    /// - Parameter report: receives the events, one after the other, on the listener's thread, which it must not block.
    package init(_ options: SharedDatabaseOptions, _ report: @escaping @Sendable (Event) -> Void) {
        self.options = options
        self.report = report
    }

    /// Listens until the task is cancelled, and connects again after each failure.
    ///
    /// - Throws: ``SharedStoreError`` if this system offers no means to end the wait.
    package func run() async throws {
        let stop = try StopSignal()
        try await withTaskCancellationHandler {
            try await queue.run {
                while !stop.isSet {
                    self.listen(until: stop)
                    stop.wait(Self.pause)
                }
            }
        } onCancel: {
            stop.set()
        }
    }

    /// Listens until the connection fails.
    private func listen(until stop: StopSignal) {
        do {
            let connection = try PostgresConnection.open(options)
            try connection.run("LISTEN \"\(options.channel.replacing("\"", with: "\"\""))\"")
            report(.connected)
            try hear(connection, until: stop)
        } catch {
            let known = (error as? ConnectionFailure)?.error ?? error as? SharedStoreError
            report(.disconnected(known ?? .unavailable(.connectionLost)))
        }
    }

    private func hear(_ connection: PostgresConnection, until stop: StopSignal) throws {
        while !stop.isSet {
            for message in try connection.notifications() { report(.message(message)) }
            if !stop.wait(Self.heartbeat, orReadable: connection.socket) {
                connection.deadline = Deadline(after: options.timeout)
                try connection.run("SELECT 1")
            }
        }
    }
}
