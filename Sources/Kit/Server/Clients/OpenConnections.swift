import NIOCore
import NIOSSL
import Synchronization

/// The open connections of a server, all and by client, and the bytes that they make the server hold. Refuses those
/// beyond the limit of a client, so that some are left to others. If there is hardly room, or all hold too much, it
/// ends one of the client that has or holds most.
package final class OpenConnections: Sendable {
    private struct State {
        var last = 0
        var open: [Int: OpenConnection] = [:]
        var byClient: [IPAddress: Int] = [:]
    }

    /// Largest number of connections of one client.
    package let limit: Int
    /// Bytes that all connections may hold before those that hold more than their share wait. Beyond one and a half
    /// times as much, it closes the largest connection of the client that holds most.
    package let budget: Int
    /// Most connections; for each further one the oldest one of the client that has most ends.
    private let places: Int
    /// A client with at most this many connections keeps them.
    private static let usual = 32
    /// Proxies, which may have any number of connections.
    let exempt: TrustedProxies
    private let state = Mutex(State())
    private let bytes = Atomic(0)

    /// - Parameters:
    ///   - limit: largest number of connections of one client, as ``IPAddress/client`` counts it
    ///   - exempt: proxies, which may have any number
    ///   - budget: bytes that all connections may hold
    ///   - places: most connections before those of the client that has most make room
    package init(limit: Int, exempt: TrustedProxies, budget: Int = 64 << 20, places: Int = .max) {
        self.limit = limit
        self.exempt = exempt
        self.budget = budget
        self.places = places
    }

    package var count: Int { state.withLock { $0.open.count } }

    /// Number of their addresses, or networks. Trusted proxies are not counted.
    package var clients: Int { state.withLock { $0.byClient.count } }

    /// Bytes of open requests, and of responses that clients have not taken.
    package var held: Int { bytes.load(ordering: .relaxed) }

    /// Counts a connection until it closes.
    ///
    /// - Parameter onEnd: Is called on its event loop if it is closed for others.
    /// - Returns: Nil if its client has too many; then it is not counted.
    func admit(_ channel: any Channel, onEnd: @escaping @Sendable (AbruptClose) -> Void) -> OpenConnection? {
        let client = channel.remoteAddress.flatMap(IPAddress.init).flatMap { exempt.contains($0) ? nil : $0.client }
        let connection = admit(client) { reason in
            channel.eventLoop.execute {
                guard channel.isActive else { return }
                onEnd(reason)
                // Ahead of TLS, which would wait for the client.
                let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
                if let tls { tls.close(promise: nil) } else { channel.close(promise: nil) }
            }
        }
        guard let connection else { return nil }
        channel.closeFuture.whenComplete { _ in self.closed(connection) }
        return connection
    }

    /// - Parameter end: Closes the connection; is called on any thread.
    func admit(_ client: IPAddress?, end: @escaping @Sendable (AbruptClose) -> Void = { _ in }) -> OpenConnection? {
        let (connection, oldest) = state.withLock { state -> (OpenConnection?, OpenConnection?) in
            if let client {
                let count = state.byClient[client, default: 0]
                guard count < limit else { return (nil, nil) }
                state.byClient[client] = count + 1
            }
            state.last += 1
            let connection = OpenConnection(state.last, of: client, in: self, end: end)
            state.open[connection.number] = connection
            return (connection, self.displaced(in: state))
        }
        oldest?.end(.tooManyConnections)
        return connection
    }

    /// Returns the connection that ends so that one from elsewhere has room: two clients that hold as many as each may
    /// have would otherwise leave none.
    private func displaced(in state: State) -> OpenConnection? {
        guard state.open.count > places, let heaviest = state.byClient.max(by: { $0.value < $1.value }),
            heaviest.value > Self.usual
        else { return nil }
        return state.open.values.filter { $0.client == heaviest.key && !$0.isEnding }.min { $0.number < $1.number }
    }

    func closed(_ connection: OpenConnection) {
        bytes.subtract(connection.close(), ordering: .relaxed)
        state.withLock { state in
            state.open[connection.number] = nil
            guard let client = connection.client, let count = state.byClient[client] else { return }
            state.byClient[client] = count > 1 ? count - 1 : nil
        }
    }

    // MARK: Bytes

    /// Bytes that one connection may hold before it has to wait: an eighth of the budget that is left (dynamic
    /// thresholds: Choudhury and Hahne, 1998). So there is always room for one more.
    fileprivate var share: Int { max(OpenConnection.least, (budget - held) / 8) }

    fileprivate func hold(_ count: Int) {
        let held = bytes.add(count, ordering: .relaxed).newValue
        if count > 0, held > most { endHeaviest() }
    }

    private var most: Int { budget + budget / 2 }

    private func endHeaviest() {
        let heaviest = state.withLock { state -> OpenConnection? in
            // Bytes of connections that are being closed are on their way out.
            let open = state.open.values.filter { !$0.isEnding }
            guard open.reduce(0, { $0 + $1.held }) > most else { return nil }
            // A connection without a client is one by itself.
            let clients = Dictionary(grouping: open) { $0.client.map(Owner.client) ?? .connection($0.number) }
            let client = clients.values.max { a, b in a.reduce(0) { $0 + $1.held } < b.reduce(0) { $0 + $1.held } }
            return client?.max { $0.held < $1.held }
        }
        heaviest?.end(.heldTooMuch)
    }

    private enum Owner: Hashable {
        case client(IPAddress)
        case connection(Int)
    }
}

/// An open connection, and the bytes that it makes the server hold, which are counted on its event loop.
final class OpenConnection: Sendable {
    /// Bytes that any connection may hold.
    static let least = 256 << 10

    /// Its place in the order of arrivals.
    fileprivate let number: Int
    /// Nil for a trusted proxy, or without an address.
    fileprivate let client: IPAddress?
    private let connections: OpenConnections
    private let bytes = Atomic(0)
    private let isClosed = Atomic(false)
    private let endBegan = Atomic(false)
    private let onEnd: @Sendable (AbruptClose) -> Void

    fileprivate init(
        _ number: Int,
        of client: IPAddress?,
        in connections: OpenConnections,
        end: @escaping @Sendable (AbruptClose) -> Void
    ) {
        self.number = number
        self.client = client
        self.connections = connections
        onEnd = end
    }

    /// Bytes that are held for it.
    var held: Int { bytes.load(ordering: .relaxed) }

    /// Whether another request may begin: the connection holds less than its share.
    var mayBegin: Bool { held < connections.share }

    /// Counts bytes.
    ///
    /// - Parameter count: Negative for bytes that are held no longer.
    func hold(_ count: Int) {
        guard count != 0, !isClosed.load(ordering: .relaxed) else { return }
        bytes.add(count, ordering: .relaxed)
        connections.hold(count)
    }

    fileprivate var isEnding: Bool { endBegan.load(ordering: .relaxed) }

    fileprivate func end(_ reason: AbruptClose) {
        if !endBegan.exchange(true, ordering: .relaxed) { onEnd(reason) }
    }

    /// - Returns: The bytes that were held.
    fileprivate func close() -> Int {
        isClosed.store(true, ordering: .relaxed)
        return bytes.exchange(0, ordering: .relaxed)
    }
}
