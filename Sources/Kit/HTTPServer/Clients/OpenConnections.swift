import NIOCore
import Synchronization

/// The open connections of a server, all and by client. Refuses those beyond the limit of a client, so that one that
/// holds connections open leaves some to the others.
public final class OpenConnections: Sendable {
    private struct State {
        var total = 0
        var byClient: [IPAddress: Int] = [:]
    }

    /// Largest number of connections of one client.
    public let limit: Int
    /// Proxies, which may have any number of connections.
    let exempt: TrustedProxies
    private let state = Mutex(State())

    /// Counts connections.
    /// - Parameters:
    ///   - limit: largest number of connections of one client, as ``IPAddress/client`` counts it
    ///   - exempt: proxies, which may have any number
    public init(limit: Int, exempt: TrustedProxies) {
        self.limit = limit
        self.exempt = exempt
    }

    /// Number of open connections.
    public var count: Int { state.withLock { $0.total } }

    /// Number of addresses, or networks, that they are from. Trusted proxies are not counted.
    public var clients: Int { state.withLock { $0.byClient.count } }

    /// Counts a connection until it closes.
    /// - Returns: false if its client has too many; then it is not counted
    func admit(_ channel: any Channel) -> Bool {
        let client = channel.remoteAddress.flatMap(IPAddress.init).flatMap { exempt.contains($0) ? nil : $0.client }
        guard admit(client) else { return false }
        channel.closeFuture.whenComplete { _ in self.closed(client) }
        return true
    }

    func admit(_ client: IPAddress?) -> Bool {
        state.withLock { state in
            if let client {
                let count = state.byClient[client, default: 0]
                guard count < limit else { return false }
                state.byClient[client] = count + 1
            }
            state.total += 1
            return true
        }
    }

    func closed(_ client: IPAddress?) {
        state.withLock { state in
            state.total -= 1
            guard let client, let count = state.byClient[client] else { return }
            state.byClient[client] = count > 1 ? count - 1 : nil
        }
    }
}
