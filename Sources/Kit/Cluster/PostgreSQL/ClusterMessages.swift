package import Concurrency
import Foundation
package import Logging
import NIOCore
import Synchronization

/// Messages between servers about changes of shared rows, and the time for which a server may use rows that it has read
/// if no message arrives.
///
/// A message may be lost, so nothing depends on messages alone: rows are reused for a short time only, and not at all
/// while this server receives no messages.
package final class ClusterMessages: Sendable {
    /// A message on the channel.
    private struct Message: Codable {
        /// The server that sent it, which knows already.
        let node: String
        let kind: String
        /// The name of the rows that have changed, such as the audience of an event.
        let topic: String
        let text: String
    }

    private struct State {
        var receivers: [String: [@Sendable (String) -> Void]] = [:]
        var gapReceivers: [@Sendable () -> Void] = []
        var textReceivers: [(prefix: String, receive: @Sendable (String) -> Void)] = []
        var outgoing: [String] = []
        var isConnected = false
    }

    /// The most messages that wait to be sent; others are lost.
    private static let mostOutgoing = 10_000
    /// PostgreSQL's limit of a message.
    private static let longest = 7999

    private let database: PostgresDatabase
    private let node: String
    private let kept: TimeAmount
    private let counters = VersionCounters()
    private let state = Mutex(State())
    private let (waiting, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let logger: Logger

    /// Creates it; no message is received or sent before ``run()``.
    ///
    /// - Parameters:
    ///   - node: a name that no other server has.
    ///   - kept: how long a server may reuse rows that it has read.
    package init(_ database: PostgresDatabase, node: String, kept: Duration, logger: Logger) {
        self.database = database
        self.node = node
        self.kept = .nanoseconds(Int64(kept / .nanoseconds(1)))
        self.logger = logger
    }

    /// Whether the messages of other servers arrive.
    package var isConnected: Bool { state.withLock { $0.isConnected } }

    /// Returns a token that is valid while the rows of a topic may be reused. Take it before reading them.
    package func token(of topic: String) -> ChangeToken {
        guard isConnected else { return ChangeToken(until: .now()) }
        return ChangeToken(of: counters[topic], until: .now() + kept)
    }

    /// Invalidates the tokens of a topic on this server.
    package func changed(_ topic: String) { counters[topic].bump() }

    /// Invalidates the tokens of a topic on this server, and tells the others soon after.
    ///
    /// - Parameters:
    ///   - kind: who receives it there (``onMessage(_:_:)``).
    ///   - topic: the name of the rows that have changed.
    ///   - text: the text for the receivers; nil for the topic.
    package func notify(_ kind: String, _ topic: String, _ text: String? = nil) {
        changed(topic)
        let message = Message(node: node, kind: kind, topic: topic, text: text ?? topic)
        guard let json = try? String(decoding: JSONEncoder().encode(message), as: UTF8.self),
            json.utf8.count <= Self.longest
        else {
            return logger.warning("a message to other servers is too long", metadata: ["topic": "\(topic)"])
        }
        state.withLock { if $0.outgoing.count < Self.mostOutgoing { $0.outgoing.append(json) } }
        signal.yield()
    }

    /// Registers who receives the texts of a kind of message from other servers, one after the other. It must not
    /// block.
    package func onMessage(_ kind: String, _ receive: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.receivers[kind, default: []].append(receive) }
    }

    /// Registers who is called when messages of other servers may have been lost to this one. It must not block.
    package func onGap(_ receive: @escaping @Sendable () -> Void) {
        state.withLock { $0.gapReceivers.append(receive) }
    }

    /// Registers who receives texts of the channel that begin so and were sent in another way than by this type
    /// (``SQLTransaction/notify(_:)``), those of this server included. It must not block.
    package func onText(_ prefix: String, _ receive: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.textReceivers.append((prefix, receive)) }
    }

    /// Receives and sends until the task is cancelled.
    ///
    /// - Throws: ``ClusterError`` if this system offers no means to listen.
    package func run() async throws {
        let listener = ChangeListener(database.options) { [self] event in receive(event) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await listener.run() }
            group.addTask { await self.send() }
            try await group.waitForAll()
        }
    }

    private func send() async {
        for await _ in waiting {
            let messages = state.withLock { state in
                defer { state.outgoing = [] }
                return state.outgoing
            }
            guard !messages.isEmpty else { continue }
            do {
                try await database.notify(messages)
            } catch {
                logger.warning("other servers are not told yet", metadata: ["error": "\(error)"])
                // They are sent again with the next ones, or once the connection is open again.
                state.withLock { state in
                    state.outgoing = (messages + state.outgoing).suffix(Self.mostOutgoing)
                }
            }
        }
    }

    private func receive(_ event: ChangeListener.Event) {
        switch event {
        case .connected:
            setConnected(true)
            for receive in state.withLock(\.gapReceivers) { receive() }
            signal.yield()
        case .disconnected(let error):
            if setConnected(false) {
                logger.warning("other servers are not heard", metadata: ["error": "\(error)"])
            }
        case .message(let json):
            for (prefix, receive) in state.withLock(\.textReceivers) where json.hasPrefix(prefix) { receive(json) }
            guard let message = try? JSONDecoder().decode(Message.self, from: Data(json.utf8)), message.node != node
            else { return }
            changed(message.topic)
            for receive in state.withLock({ $0.receivers[message.kind] ?? [] }) { receive(message.text) }
        }
    }

    /// Notes whether messages arrive. A change invalidates all tokens: a message about their rows may be lost.
    ///
    /// - Returns: whether that has changed.
    @discardableResult
    private func setConnected(_ isConnected: Bool) -> Bool {
        let hasChanged = state.withLock { state in
            defer { state.isConnected = isConnected }
            return state.isConnected != isConnected
        }
        if hasChanged { counters.bumpAll() }
        return hasChanged
    }
}

/// Receives the messages that servers send after their commits, on a connection of its own.
///
/// Messages sent while the listener is not connected are lost. So readers also need a time after which they check
/// again, and at ``Event/connected`` anything may have changed.
package final class ChangeListener: Sendable {
    package enum Event: Sendable, Equatable {
        /// It gets messages from now on.
        case connected
        /// It gets none, until ``connected``: its connection was lost, or could not be made.
        case disconnected(ClusterError)
        case message(String)
    }

    /// How long a connection may be silent before the server is asked whether it is still there.
    private static let heartbeat: Int32 = 1000
    /// How long after a failure the next attempt begins.
    private static let pause: Int32 = 500

    private let options: PostgresOptions
    private let report: @Sendable (Event) -> Void
    private let queue = SerialQueue(label: "larder.store.listener")

    /// - Parameter report: receives the events, one after the other, on the listener's thread, which it must not block.
    package init(_ options: PostgresOptions, _ report: @escaping @Sendable (Event) -> Void) {
        self.options = options
        self.report = report
    }

    /// Listens until the task is cancelled, and connects again after each failure.
    ///
    /// - Throws: ``ClusterError`` if this system offers no means to end the wait.
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
            try listen(on: connection, until: stop)
        } catch {
            let known = (error as? ConnectionFailure)?.error ?? error as? ClusterError
            report(.disconnected(known ?? .unavailable(.connectionLost)))
        }
    }

    private func listen(on connection: PostgresConnection, until stop: StopSignal) throws {
        while !stop.isSet {
            for message in try connection.notifications() { report(.message(message)) }
            if !stop.wait(Self.heartbeat, orReadable: connection.socket) {
                connection.deadline = Deadline(after: options.timeout)
                try connection.run("SELECT 1")
            }
        }
    }
}
