import Synchronization

/// What a sandbox serves while it does.
final class CurrentUpstreams: Sendable {
    struct Stage: Sendable {
        let upstreams: SimulatedUpstreams
        /// Where connections are refused.
        let refusing: RefusingPort
    }

    private let state = Mutex<Stage?>(nil)

    var stage: Stage? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// The simulated upstreams.
    var upstreams: SimulatedUpstreams? { stage?.upstreams }
}
