import Synchronization

/// The simulated upstreams of a sandbox that serves.
final class CurrentUpstreams: Sendable {
    private let state = Mutex<SimulatedUpstreams?>(nil)

    var upstreams: SimulatedUpstreams? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
