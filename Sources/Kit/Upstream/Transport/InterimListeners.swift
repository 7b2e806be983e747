import HTTPTypes
import Synchronization

/// Who gets the interim responses (RFC 9110 §15.2) of the requests under way: async-http-client drops them.
///
/// A request names its listener by a number (``GuardedRequest``), since nothing but its head reaches its connection.
final class InterimListeners: Sendable {
    /// Is called on the event loop of the connection.
    typealias Listener = @Sendable (HTTPResponse) -> Void

    private let state = Mutex((last: 0, listeners: [Int: Listener]()))

    /// Adds a listener, and returns its number.
    func add(_ listener: @escaping Listener) -> Int {
        state.withLock { state in
            state.last += 1
            state.listeners[state.last] = listener
            return state.last
        }
    }

    /// Removes a listener.
    func remove(_ number: Int) {
        _ = state.withLock { $0.listeners.removeValue(forKey: number) }
    }

    /// The listener with a number.
    subscript(_ number: Int) -> Listener? { state.withLock { $0.listeners[number] } }
}
