import NIOCore
import Synchronization

/// Shares an event loop among clients by fair queuing (RFC 970). Work of a client that has had its part of a round
/// waits for the next round, in which clients take turns. So a client that asks for little is served at once, whatever
/// another one asks for.
///
/// It has no event loop: times are passed in, and `endRound` schedules the end of a round. All of it runs on one event
/// loop. Work is counted in units of about 10 µs of processor time.
final class ClientScheduler {
    /// When a round ends: a little later, so that the event loop can poll its sockets.
    struct RoundEnd: Equatable {
        /// Whether the threads of the application have to begin earlier work first.
        let isApplicationBehind: Bool
        /// Whether a client that asks for little is served beside those that wait: then these pause for as long as the
        /// round took, which leaves processor time to it.
        let isShared: Bool
        /// Whether all clients that wait have more connections than browsers do: then they pause longer.
        let isCrowded: Bool
        let began: NIODeadline
    }

    enum Work {
        /// A cached response; those that it pipelines and their bytes are counted when they have been sent.
        case cachedResponse
        /// A request for the application.
        case request
        /// Looks whether the client of an accepted connection is still there, and closes it otherwise.
        case arrival
        /// The handlers and the task of a connection, from its arrival to its end.
        case connection
        case handshake
        /// A request that is refused before the application sees it, and the end of its connection.
        case refusal
        /// A request that the application responds to with 4xx, such as the check of a wrong password; counted in
        /// addition to a request.
        case failure
        /// The bytes of a head that has not arrived as a whole yet.
        case longHead

        fileprivate var units: Int {
            switch self {
            case .cachedResponse: 1
            case .request: 12
            case .arrival: 3
            case .connection: 24
            case .handshake: 30
            case .refusal: 15
            case .failure: 30
            case .longHead: 16
            }
        }

        fileprivate var isForApplication: Bool { self == .request || self == .connection }
    }

    /// A client: an address, or a connection without one.
    final class Client {
        fileprivate struct Waiting {
            let work: Work
            let run: () -> Void
        }

        fileprivate let address: IPAddress?
        /// Hash of the address; nil for a connection that shares with no other one.
        fileprivate let identity: Int?
        fileprivate var connections = 0
        fileprivate var waiting = CircularBuffer<Waiting>()
        /// When work of it last had to wait.
        fileprivate var waited = NIODeadline.uptimeNanoseconds(0)
        /// Units of the round that it was last served in.
        fileprivate var spent = (round: 0, units: 0)

        fileprivate init(_ address: IPAddress?) {
            self.address = address
            identity = address?.hashValue
        }
    }

    /// Most connections of a client that is not taken for one that floods.
    private static let usualConnections = 32
    /// A round in which nothing had to wait ends after this time.
    private static let roundTime = TimeAmount.milliseconds(1)

    /// Units of one client in a round, and of the waiting work that a round begins with.
    private let clientUnits: Int
    private let roundUnits: Int
    private let endRound: (ClientScheduler, RoundEnd) -> Void
    private var clients: [IPAddress: Client] = [:]
    /// Clients with waiting work, in the order of their slots.
    private var scheduled = CircularBuffer<Client>()
    private var round = 1
    private var roundBegan = NIODeadline.uptimeNanoseconds(0)
    private var roundSpent = 0
    private var isApplicationBehind = false
    private var isRoundEnding = false
    private let activeClients: ActiveClients

    /// - Parameters:
    ///   - clientUnits: units of one client in a round
    ///   - activeClients: of all event loops
    ///   - endRound: schedules a call of ``roundEnded(now:)``
    init(
        clientUnits: Int = 48,
        activeClients: ActiveClients = ActiveClients(),
        endRound: @escaping (ClientScheduler, RoundEnd) -> Void
    ) {
        self.clientUnits = clientUnits
        roundUnits = 2 * clientUnits
        self.activeClients = activeClients
        self.endRound = endRound
    }

    var clientCount: Int { clients.count }

    /// Returns the client of a new connection; ``remove(_:)`` is called at its end.
    /// - Parameter address: nil if the connection shares with no other one
    func add(_ address: IPAddress?) -> Client {
        let client = address.flatMap { clients[$0] } ?? Client(address)
        if let address { clients[address] = client }
        client.connections += 1
        return client
    }

    /// Notes the end of a connection.
    func remove(_ client: Client) {
        client.connections -= 1
        if client.connections == 0, let address = client.address { clients[address] = nil }
    }

    /// Whether work of a client may begin at once; counts it then. A client that is alone never waits, nor does a
    /// connection that shares with no other one.
    func begins(_ work: Work, of client: Client, now: NIODeadline) -> Bool {
        guard let identity = client.identity, activeClients.areSeveral(identity, now) else { return true }
        if !isRoundEnding, now - roundBegan >= Self.roundTime { beginRound(now) }
        guard client.waiting.isEmpty, units(of: client) < allowance(of: client, now) else { return false }
        charge(work, to: client)
        if !hasWaited(client, now: now) { activeClients.noteCalm(now) }
        return true
    }

    private func hasWaited(_ client: Client, now: NIODeadline) -> Bool { now - client.waited <= ActiveClients.time }

    /// Whether a client has more connections than a browser has, and work of it had to wait lately.
    func isCrowded(_ client: Client, now: NIODeadline) -> Bool {
        client.connections > Self.usualConnections && hasWaited(client, now: now)
    }

    /// Counts the cost of work beyond the cost that was counted at its beginning.
    func count(_ units: Int, of client: Client) {
        client.spent = (round, self.units(of: client) + units)
        roundSpent += units
    }

    /// Keeps work for a slot of its client.
    func enqueue(_ work: Work, of client: Client, run: @escaping () -> Void) {
        if client.waiting.isEmpty { scheduled.append(client) }
        client.waiting.append(Client.Waiting(work: work, run: run))
        client.waited = roundBegan
        endRoundLater()
    }

    /// Begins a round: runs waiting work, a piece for each client in turn, up to the units of a round.
    func roundEnded(now: NIODeadline) {
        isRoundEnding = false
        beginRound(now)
        // A flood is begun in small parts: the threads of the application do all of a part before anything else.
        let units = activeClients.areCalm(now) && areWaitingCrowded ? clientUnits / 2 : roundUnits
        while roundSpent < units, let client = scheduled.popFirst() {
            guard let next = client.waiting.popFirst() else { continue }
            if !client.waiting.isEmpty { scheduled.append(client) }
            charge(next.work, to: client)
            next.run()
        }
        if !scheduled.isEmpty { endRoundLater() }
    }

    private func beginRound(_ now: NIODeadline) {
        round += 1
        roundBegan = now
        roundSpent = 0
        isApplicationBehind = false
    }

    private func endRoundLater() {
        guard !isRoundEnding else { return }
        isRoundEnding = true
        let end = RoundEnd(
            isApplicationBehind: isApplicationBehind,
            isShared: activeClients.areCalm(roundBegan),
            isCrowded: areWaitingCrowded,
            began: roundBegan
        )
        endRound(self, end)
    }

    /// Whether all clients that wait have more connections than browsers do.
    private var areWaitingCrowded: Bool { scheduled.allSatisfy { $0.connections > Self.usualConnections } }

    /// Counts work that begins.
    func charge(_ work: Work, to client: Client) {
        if work.isForApplication { isApplicationBehind = true }
        count(work.units, of: client)
    }

    private func units(of client: Client) -> Int {
        client.spent.round == round ? client.spent.units : 0
    }

    /// Returns the units of a client in the round so far. A round lasts longer while clients with many connections
    /// pause: others get as much in each of its milliseconds, so they do not wait for those that flood.
    private func allowance(of client: Client, _ now: NIODeadline) -> Int {
        guard client.connections <= Self.usualConnections else { return clientUnits }
        return clientUnits * max(1, Int((now - roundBegan).nanoseconds / Self.roundTime.nanoseconds))
    }
}

/// The part of a connection in the ``ClientScheduler`` of its event loop.
final class SchedulerShare {
    private let queue: ClientScheduler
    private let client: ClientScheduler.Client
    /// Whether work of the connection waits for a slot of its client.
    private(set) var isWaiting = false
    private var hasSlot = false

    /// - Parameter address: nil if the connection shares with no other one
    init(_ address: IPAddress?, of queue: ClientScheduler) {
        self.queue = queue
        client = queue.add(address)
    }

    /// Creates the share of a stream of a connection, which waits by itself.
    init(ofStreamOf connection: SchedulerShare) {
        queue = connection.queue
        client = connection.client
    }

    /// Whether work may begin now. Otherwise it has to ``wait(_:_:)``, and asks again then.
    func begins(_ work: ClientScheduler.Work, now: NIODeadline) -> Bool {
        if hasSlot {
            hasSlot = false
            return true
        }
        return !isWaiting && queue.begins(work, of: client, now: now)
    }

    /// Whether work may begin now. Otherwise `run` is called when the client has a slot, and asks again.
    func begins(_ work: ClientScheduler.Work, now: NIODeadline, otherwise run: @escaping () -> Void) -> Bool {
        if begins(work, now: now) { return true }
        wait(work, run)
        return false
    }

    /// Calls `run` when the client has a slot, unless work waits already.
    func wait(_ work: ClientScheduler.Work, _ run: @escaping () -> Void) {
        guard !isWaiting else { return }
        isWaiting = true
        queue.enqueue(work, of: client) {
            self.isWaiting = false
            self.hasSlot = true
            run()
            self.hasSlot = false
        }
    }

    /// Counts work that has no slot of its own: known only later, or the set-up of a connection.
    func count(_ work: ClientScheduler.Work) { queue.charge(work, to: client) }

    /// Counts bytes for the decoder.
    func decoded(bytes: Int) { queue.count(bytes >> 12, of: client) }

    /// Whether the client has many connections, and work of it had to wait lately.
    func isCrowded(now: NIODeadline) -> Bool { queue.isCrowded(client, now: now) }

    /// Counts cached responses that were sent.
    func sent(responses: Int, bytes: Int) {
        queue.count(responses - 1 + bytes >> 14, of: client)
    }

    /// Notes the end of the connection.
    func closed() { queue.remove(client) }
}

/// The fair queues of a server, one for each event loop.
final class ClientSchedulers: Sendable {
    private let exempt: TrustedProxies
    private let activeClients = ActiveClients()
    private let queues = Mutex<[ObjectIdentifier: NIOLoopBound<ClientScheduler>]>([:])

    /// - Parameter exempt: proxies, whose connections never wait
    init(exempt: TrustedProxies) { self.exempt = exempt }

    /// Returns the share of a new connection. Called on its event loop.
    func share(of channel: any Channel) -> SchedulerShare {
        let address = channel.remoteAddress.flatMap(IPAddress.init).flatMap { exempt.contains($0) ? nil : $0.client }
        let share = SchedulerShare(address, of: queue(channel.eventLoop))
        channel.closeFuture.assumeIsolated().whenComplete { _ in share.closed() }
        return share
    }

    private func queue(_ loop: any EventLoop) -> ClientScheduler {
        queues.withLock { queues in
            if let queue = queues[ObjectIdentifier(loop)] { return queue }
            let queue = NIOLoopBound(
                ClientScheduler(activeClients: activeClients) { $0.schedule($1, on: loop) },
                eventLoop: loop
            )
            queues[ObjectIdentifier(loop)] = queue
            return queue
        }.value
    }
}

extension ClientScheduler {
    /// Schedules the end of a round.
    ///
    /// NIO polls its sockets only when no task is left, including those that tasks submit. Therefore the end of a round
    /// is due a little later.
    fileprivate func schedule(_ end: RoundEnd, on loop: any EventLoop) {
        let queue = NIOLoopBound(self, eventLoop: loop)
        let later = { @Sendable in
            _ = loop.scheduleTask(in: end.pause(now: loop.now)) { queue.value.roundEnded(now: loop.now) }
        }
        // The threads of the application begin tasks in the order of their arrival.
        if end.isApplicationBehind { Task.detached { later() } } else { later() }
    }
}

extension ClientScheduler.RoundEnd {
    /// Time after which the event loop has polled its sockets, unless its tasks take longer.
    private static var shortest: TimeAmount { .microseconds(100) }
    /// Shortest pause of clients with many connections: their round also takes time on the threads of the application.
    private static var shortestOfCrowds: TimeAmount { .milliseconds(3) }
    private static var longest: TimeAmount { .milliseconds(20) }

    /// Returns how long the clients that wait pause. Beside a calm one that is as long as the round took; those that
    /// flood have a fifth of the time, and less if rounds are short.
    func pause(now: NIODeadline) -> TimeAmount {
        let took = now - began
        if !isShared { return Self.shortest }
        return min(isCrowded ? max(4 * took, Self.shortestOfCrowds) : max(took, Self.shortest), Self.longest)
    }
}

/// Which clients a server has served lately, for all its event loops.
final class ActiveClients: Sendable {
    /// Time for which a request counts, and without waiting after which a client is calm.
    static let time = TimeAmount.seconds(1)

    /// Hash of the address of the last client.
    private let last = Atomic<Int>(0)
    /// Nanoseconds of the event loops' clock, 0 for never: when another client than before was served, and when a calm
    /// one.
    private let changed = Atomic<UInt64>(0)
    private let calm = Atomic<UInt64>(0)

    /// Notes a request, and returns whether others were served lately as well.
    /// - Parameter client: hash of the client's address
    func areSeveral(_ client: Int, _ now: NIODeadline) -> Bool {
        if last.load(ordering: .relaxed) != client {
            let isFirst = last.exchange(client, ordering: .relaxed) == 0
            if !isFirst { changed.store(now.uptimeNanoseconds, ordering: .relaxed) }
        }
        return Self.isRecent(changed, now)
    }

    /// Notes that a client was served whose work had not waited for some time.
    func noteCalm(_ now: NIODeadline) { calm.store(now.uptimeNanoseconds, ordering: .relaxed) }

    /// Whether such a client was served lately.
    func areCalm(_ now: NIODeadline) -> Bool { Self.isRecent(calm, now) }

    private static func isRecent(_ instant: borrowing Atomic<UInt64>, _ now: NIODeadline) -> Bool {
        let nanoseconds = instant.load(ordering: .relaxed)
        return nanoseconds > 0 && now - .uptimeNanoseconds(nanoseconds) < time
    }
}
