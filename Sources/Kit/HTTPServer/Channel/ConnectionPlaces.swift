public import HummingbirdCore
import Synchronization

/// Limits the open connections of a server, whichever of its listeners accepted them.
public final class ConnectionPlaces: AvailableConnectionsDelegate {
    private struct State {
        var open = 0
        /// Listeners that wait until a connection may be accepted.
        var waiting: [@Sendable () -> Void] = []
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Creates a limit that no connection counts for yet.
    public init(limit: Int) { self.limit = limit }

    /// Counts a connection.
    public func connectionOpened() { state.withLock { $0.open += 1 } }

    /// A counted connection has closed.
    public func connectionClosed() {
        let resumed = state.withLock { state in
            state.open -= 1
            guard state.open < limit else { return [@Sendable () -> Void]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for resume in resumed { resume() }
    }

    /// Whether another connection may be accepted.
    public func isAcceptingNewConnections() -> Bool { state.withLock { $0.open < limit } }

    /// Whether another connection may be accepted; otherwise `resume` is called once that is so.
    func mayAccept(otherwise resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.open >= limit { state.waiting.append(resume) }
            return state.open < limit
        }
    }
}
