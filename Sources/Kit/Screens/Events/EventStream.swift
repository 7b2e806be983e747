package import Cluster
package import Concurrency
import Foundation
import ServiceLifecycle
import Synchronization

/// The event stream of the server: publishes each event to the listeners of its audience, and keeps the latest ones for
/// clients that reconnect.
package final class EventStream: Service, Sendable {
    enum Message: Sendable {
        case event(identity: String, ServerEvent)
        /// Keeps idle connections open and detects closed ones. All events for the listener up to this identity were
        /// sent before it.
        case heartbeat(identity: String)
        /// A session of the listener has ended, and the stream ends with it.
        case sessionEnded(app: String)
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
        var listeners = EventListeners()
        var nextNumber = 0
        var deliveries = 0
        var isFinished = false
        var changes: ClusterMessages?
    }

    private let state: Mutex<State>
    private let clock: WallClock
    private let heartbeat: Duration
    private let limits: (client: Int, all: Int)
    /// Largest number of messages that wait for one listener. One that falls further behind is disconnected, and
    /// reconnects with `Last-Event-ID`.
    private static let listenerBuffer = 256

    /// - Parameters:
    ///   - run: distinguishes runs of the server
    ///   - capacity: number of events that are kept of one audience; twenty times as many of all
    ///   - heartbeat: time between heartbeats
    ///   - listenersPerClient: largest number of listeners of one client; its oldest one ends for another
    ///   - listeners: largest number of all; the oldest one of the client that has most ends for another
    ///   - clock: the clock
    package init(
        run: String,
        capacity: Int = 1000,
        heartbeat: Duration = .seconds(15),
        listenersPerClient: Int = .max,
        listeners: Int = .max,
        clock: WallClock
    ) {
        limits = (listenersPerClient, listeners)
        state = Mutex(State(backlog: EventBacklog(run: run, capacity: capacity)))
        self.clock = clock
        self.heartbeat = heartbeat
    }

    package var listenerCount: Int { state.withLock { $0.listeners.count } }
    /// How many times an event was passed to a listener so far.
    package var deliveryCount: Int { state.withLock { $0.deliveries } }

    /// Publishes an event to its audience, and has the other servers publish it if they share its subject.
    ///
    /// - Parameter isOwn: Whether it is about data of this server alone, whatever its audience is: its copies of an
    ///   upstream's responses.
    package func publish(_ event: ServerEvent, isOwn: Bool = false) {
        deliver(event)
        guard !isOwn, let changes = state.withLock(\.changes), let shared = ClusterEvent(event) else { return }
        changes.notify(ClusterEvent.kind, shared.topic, shared.json)
    }

    /// Publishes that screens of an app have changed.
    package func publish(_ screens: [String], of app: String, _ revision: Int, to audience: ServerEvent.Audience) {
        for screen in screens {
            publish(.screenChanged(app: app, screen: screen, revision: revision, audience: audience))
        }
    }

    /// From now on publishes the events of other servers, and has them publish the events of this one.
    package func share(over changes: ClusterMessages) {
        state.withLock { $0.changes = changes }
        changes.onMessage(ClusterEvent.kind) { [self] json in
            if let event = ClusterEvent(json: json)?.event { deliver(event) }
        }
        changes.onGap { [self] in deliver(.reset) }
    }

    private func deliver(_ event: ServerEvent) {
        state.withLock { state in
            let entry = state.backlog.append(event)
            let message = Message.event(identity: state.backlog.identity(of: entry), event)
            let numbers = state.listeners.numbers(of: event.audience)
            state.deliveries += numbers.count
            send(message, to: numbers, in: &state)
        }
    }

    /// Ends the streams of a session that has ended, after the events published before. A listener with other sessions
    /// reconnects with these.
    func end(sessionOf tokenHash: Data) {
        let ended = state.withLock { state in
            state.listeners.numbers(ofSession: tokenHash).compactMap { state.listeners.remove($0) }
        }
        for listener in ended {
            if let app = listener.sessionApps[tokenHash] { listener.messages.yield(.sessionEnded(app: app)) }
            listener.messages.finish()
        }
    }

    /// Sends heartbeats until the server stops, then ends every listener's stream.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            while await self.pauseBetweenHeartbeats() {
                self.state.withLock { state in
                    let message = Message.heartbeat(identity: state.backlog.newestIdentity)
                    self.send(message, to: state.listeners.numbers, in: &state)
                }
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
        let ended = state.withLock { state in
            state.isFinished = true
            return state.listeners.numbers.compactMap { state.listeners.remove($0) }
        }
        for listener in ended { listener.messages.finish() }
    }

    /// Adds a listener.
    ///
    /// - Parameters:
    ///   - lastEventID: where the client was.
    ///   - audiences: the audiences that it belongs to; nil for all.
    ///   - sessionApps: the apps of its sessions by the hashes of their tokens; it ends with the first of them.
    ///   - client: the address of its client, which limits are for; nil if it has none.
    func subscribe(
        lastEventID: String? = nil,
        to audiences: Set<ServerEvent.Audience>? = nil,
        sessionApps: [Data: String] = [:],
        client: String? = nil
    ) -> Subscription {
        state.withLock { state in
            if let client, let displaced = state.listeners.displaced(by: client, limits: limits) {
                state.listeners.remove(displaced)?.messages.finish()
            }
            state.nextNumber += 1
            let (messages, continuation) = AsyncStream.makeStream(
                of: Message.self,
                bufferingPolicy: .bufferingOldest(Self.listenerBuffer)
            )
            let listener = EventListeners.Listener(
                messages: continuation,
                audiences: audiences,
                sessionApps: sessionApps,
                client: client
            )
            if state.isFinished { continuation.finish() } else { state.listeners.add(listener, state.nextNumber) }
            var missed: [(identity: String, event: ServerEvent)] = []
            var isReset = false
            if let lastEventID {
                switch state.backlog.missed(since: lastEventID, of: audiences) {
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
        state.withLock { $0.listeners.remove(number) }?.messages.finish()
    }

    private func send(_ message: Message, to numbers: [Int], in state: inout State) {
        for number in numbers {
            if case .dropped = state.listeners[number]?.messages.yield(message) {
                state.listeners.remove(number)?.messages.finish()
            }
        }
    }
}

/// The listeners of the event stream, indexed by audience: the cost of an event depends on its audience only. A value
/// without locks.
struct EventListeners: Sendable {
    struct Listener: Sendable {
        let messages: AsyncStream<EventStream.Message>.Continuation
        /// The audiences that it belongs to; nil for all.
        let audiences: Set<ServerEvent.Audience>?
        /// The apps of its sessions by the hashes of their tokens.
        let sessionApps: [Data: String]
        /// The address of its client, or its network; nil if it has none.
        var client: String?
    }

    private var listeners: [Int: Listener] = [:]
    private var byAudience: [ServerEvent.Audience: Set<Int>] = [:]
    private var ofAllAudiences: Set<Int> = []
    private var bySession: [Data: Set<Int>] = [:]
    private var byClient: [String: Set<Int>] = [:]

    var count: Int { listeners.count }
    var numbers: [Int] { Array(listeners.keys) }

    subscript(_ number: Int) -> Listener? { listeners[number] }

    /// Returns the numbers of the listeners that receive an audience's events.
    func numbers(of audience: ServerEvent.Audience) -> [Int] { Array(byAudience[audience] ?? []) + ofAllAudiences }

    func numbers(ofSession tokenHash: Data) -> [Int] { Array(bySession[tokenHash] ?? []) }

    /// Returns the listener that ends to make room for another one of a client. It is the oldest one of the client, if
    /// the client has as many as it may have. If all have as many as there may be, it is the oldest one of the client
    /// that has most.
    ///
    /// - Parameters:
    ///   - limits: Largest number of listeners of one client, and of all.
    func displaced(by client: String, limits: (client: Int, all: Int)) -> Int? {
        if let own = byClient[client], own.count >= limits.client { return own.min() }
        guard count >= limits.all else { return nil }
        return byClient.values.max { $0.count < $1.count }?.min()
    }

    mutating func add(_ listener: Listener, _ number: Int) {
        listeners[number] = listener
        if let client = listener.client { byClient[client, default: []].insert(number) }
        if listener.audiences == nil { ofAllAudiences.insert(number) }
        for audience in listener.audiences ?? [] { byAudience[audience, default: []].insert(number) }
        for tokenHash in listener.sessionApps.keys { bySession[tokenHash, default: []].insert(number) }
    }

    /// Removes a listener and returns it; nil if it was removed before.
    mutating func remove(_ number: Int) -> Listener? {
        guard let listener = listeners.removeValue(forKey: number) else { return nil }
        ofAllAudiences.remove(number)
        if let client = listener.client {
            byClient[client]?.remove(number)
            if byClient[client]?.isEmpty == true { byClient[client] = nil }
        }
        for audience in listener.audiences ?? [] {
            byAudience[audience]?.remove(number)
            if byAudience[audience]?.isEmpty == true { byAudience[audience] = nil }
        }
        for tokenHash in listener.sessionApps.keys {
            bySession[tokenHash]?.remove(number)
            if bySession[tokenHash]?.isEmpty == true { bySession[tokenHash] = nil }
        }
        return listener
    }
}
