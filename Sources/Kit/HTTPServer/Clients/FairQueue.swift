import NIOCore

/// Shares an event loop among clients by fair queuing (RFC 970): work of a client that has had its part of a round
/// waits for the next one, in which clients take turns. So a client that asks for little is served at once, whatever
/// another one asks for.
///
/// It has no event loop: times are passed in, and `endRound` schedules the end of a round. All of it runs on one event
/// loop. Work is counted in units of about 10 µs of processor time.
final class FairQueue {
    /// When a round ends: a little later, so that the event loop can look at its sockets.
    struct RoundEnd: Equatable {
        /// Whether the threads of the application have to begin first what was passed to them before.
        let isApplicationBehind: Bool
        /// Whether a client that asks for little is served beside those that wait: then these pause for as long as the
        /// round took, which leaves processor time to it.
        let isShared: Bool
        /// Whether all clients that wait have more connections than browsers do: then they pause longer.
        let isCrowded: Bool
        /// When the round began.
        let began: NIODeadline
    }

    /// What a connection asks for.
    enum Work {
        /// A cached response; those that it pipelines and their bytes are counted when they have been sent.
        case cachedResponse
        /// A request for the application.
        case request
        /// To look whether the client of an accepted connection is still there, and to close it otherwise.
        case arrival
        /// The handlers and the task of a connection, from its arrival to its end.
        case connection
        /// A handshake of TLS.
        case handshake
        /// A request that is refused before the application sees it, and the end of its connection.
        case refusal
        /// A request that the application responds to with 4xx, beyond what any request takes: such as the check of a
        /// wrong password.
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
    private let endRound: (FairQueue, RoundEnd) -> Void
    private var clients: [IPAddress: Client] = [:]
    /// Clients with waiting work, in the order of their turns.
    private var turns = CircularBuffer<Client>()
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
        endRound: @escaping (FairQueue, RoundEnd) -> Void
    ) {
        self.clientUnits = clientUnits
        roundUnits = 2 * clientUnits
        self.activeClients = activeClients
        self.endRound = endRound
    }

    /// Number of clients with connections.
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

    /// Counts what work has taken beyond what was counted at its beginning.
    func count(_ units: Int, of client: Client) {
        client.spent = (round, self.units(of: client) + units)
        roundSpent += units
    }

    /// Keeps work for the turn of its client.
    func enqueue(_ work: Work, of client: Client, run: @escaping () -> Void) {
        if client.waiting.isEmpty { turns.append(client) }
        client.waiting.append(Client.Waiting(work: work, run: run))
        client.waited = roundBegan
        endRoundLater()
    }

    /// Begins a round: runs what waits, a piece for each client in turn, up to the units of a round.
    func roundEnded(now: NIODeadline) {
        isRoundEnding = false
        beginRound(now)
        // What floods is begun in small parts: the threads of the application do all of a part before anything else.
        let units = activeClients.areCalm(now) && areWaitingCrowded ? clientUnits / 2 : roundUnits
        while roundSpent < units, let client = turns.popFirst() {
            guard let next = client.waiting.popFirst() else { continue }
            if !client.waiting.isEmpty { turns.append(client) }
            charge(next.work, to: client)
            next.run()
        }
        if !turns.isEmpty { endRoundLater() }
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
    private var areWaitingCrowded: Bool { turns.allSatisfy { $0.connections > Self.usualConnections } }

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
