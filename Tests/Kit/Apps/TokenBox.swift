import Synchronization

/// A token that outlives the run of the app that gave it out.
public final class TokenBox: Sendable {
    private let state = Mutex("")

    /// An empty box.
    public init() {}

    /// The token.
    public var token: String {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
