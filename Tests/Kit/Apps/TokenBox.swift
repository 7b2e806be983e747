import Synchronization

/// A token that outlives the run of the app that gave it out.
package final class TokenBox: Sendable {
    private let state = Mutex("")

    /// An empty box.
    package init() {}

    /// The token.
    package var token: String {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
