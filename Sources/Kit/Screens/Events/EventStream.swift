public import Freshness
public import ServiceLifecycle
import Synchronization
import Upstream

/// The event stream of the server: publishes events to all listeners, and keeps the latest ones for clients that
/// reconnect.
public final class EventStream: Service, Sendable {
    /// What a listener receives.
    enum Message: Sendable {
        case event(identity: String, ServerEvent)
        /// Nothing happened for a while; keeps connections open and detects those that are gone.
        case heartbeat
        /// A session has ended: each listener with a session checks whether it was its own.
        case sessionEnded
    }

    /// The start of a new listener.
    struct Subscription: Sendable {
        let number: Int
        /// Events since `Last-Event-ID`.
        let missed: [(identity: String, event: ServerEvent)]
        /// Whether `Last-Event-ID` is not known any more.
        let isReset: Bool
        /// The identity from which the listener continues.
        let identity: String
        let messages: AsyncStream<Message>
    }

    private struct State {
        var backlog: EventBacklog
        var listeners: [Int: AsyncStream<Message>.Continuation] = [:]
        var nextNumber = 0
        var isFinished = false
    }

    private let state: Mutex<State>
    private let clock: WallClock
    private let heartbeat: Duration
    /// Largest number of messages that wait for one listener. One that falls further behind is disconnected, and
    /// reconnects with `Last-Event-ID`.
    private static let listenerBuffer = 256

    /// Creates a stream.
    /// - Parameters:
    ///   - run: tells runs of the server apart
    ///   - capacity: number of events that are kept
    ///   - heartbeat: time between heartbeats
    ///   - clock: the clock
    public init(run: String, capacity: Int = 1000, heartbeat: Duration = .seconds(15), clock: WallClock) {
        state = Mutex(State(backlog: EventBacklog(run: run, capacity: capacity)))
        self.clock = clock
        self.heartbeat = heartbeat
    }

    /// Current number of listeners.
    public var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// Publishes an event.
    public func publish(_ event: ServerEvent) {
        state.withLock { state in
            let entry = state.backlog.append(event)
            send(.event(identity: state.backlog.identity(of: entry), event), in: &state)
        }
    }

    /// Notifies listeners that a session has ended.
    func sessionEnded() {
        state.withLock { send(.sessionEnded, in: &$0) }
    }

    /// Sends heartbeats until the server stops, then ends every listener's stream.
    public func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            while await self.pauseBetweenHeartbeats() {
                self.state.withLock { self.send(.heartbeat, in: &$0) }
            }
        } onCancelOrGracefulShutdown: {
            self.finish()
        }
        finish()
    }

    /// Waits for the time between heartbeats.
    /// - Returns: false if the server stops meanwhile
    private func pauseBetweenHeartbeats() async -> Bool {
        let finished = await cancelWhenGracefulShutdown {
            do {
                try await self.clock.sleep(self.heartbeat)
                return false
            } catch {
                return true
            }
        }
        return !finished && !state.withLock { $0.isFinished }
    }

    /// Ends every listener's stream.
    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return state.listeners.values.map { $0 }
        }
        for listener in listeners { listener.finish() }
    }

    func subscribe(lastEventID: String?) -> Subscription {
        state.withLock { state in
            state.nextNumber += 1
            let (messages, continuation) = AsyncStream.makeStream(
                of: Message.self,
                bufferingPolicy: .bufferingOldest(Self.listenerBuffer)
            )
            if state.isFinished { continuation.finish() } else { state.listeners[state.nextNumber] = continuation }
            var missed: [(identity: String, event: ServerEvent)] = []
            var isReset = false
            if let lastEventID {
                switch state.backlog.missed(since: lastEventID) {
                case .entries(let entries): missed = entries.map { (state.backlog.identity(of: $0), $0.event) }
                case .unknown: isReset = true
                }
            }
            return Subscription(
                number: state.nextNumber,
                missed: missed,
                isReset: isReset,
                identity: state.backlog.newestIdentity,
                messages: messages
            )
        }
    }

    func unsubscribe(_ number: Int) {
        state.withLock { $0.listeners.removeValue(forKey: number) }?.finish()
    }

    private func send(_ message: Message, in state: inout State) {
        for (number, listener) in state.listeners {
            if case .dropped = listener.yield(message) {
                listener.finish()
                state.listeners[number] = nil
            }
        }
    }
}
