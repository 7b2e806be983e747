import Synchronization

/// A token that outlives the run of the app that gave it out.
final class TokenBox: Sendable {
    private let state = Mutex("")

    var token: String {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
