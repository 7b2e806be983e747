import Hummingbird
import Synchronization

/// A request under way, from its arrival until its response is written or given up: as long as the value lives.
final class HarnessExchange: Sendable {
    /// The server that responds to it; nil if there is none.
    let application: (any ReplaceableServer)?
    /// Whether it belongs into the journal.
    let isRecorded: Bool
    let signal = OvertakingSignal()
    private let ended: @Sendable () -> Void

    init(_ application: (any ReplaceableServer)?, isRecorded: Bool, ended: @escaping @Sendable () -> Void) {
        self.application = application
        self.isRecorded = isRecorded
        self.ended = ended
    }

    deinit { ended() }

    /// Returns a body with which the exchange ends.
    func following(_ body: ResponseBody) -> ResponseBody {
        ResponseBody(contentLength: body.contentLength) { [self] writer in
            defer { withExtendedLifetime(self) {} }
            try await body.write(writer)
        }
    }
}

/// Tells a request that a reset has overtaken it.
final class OvertakingSignal: Sendable {
    private enum State {
        case quiet((@Sendable () -> Void)?)
        case overtaken
    }

    private let state = Mutex(State.quiet(nil))

    var isOvertaken: Bool { state.withLock { if case .overtaken = $0 { true } else { false } } }

    /// Sets what to do then; it is done at once if it has happened.
    func onOvertaking(_ action: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if case .overtaken = state { return true }
            state = .quiet(action)
            return false
        }
        if isLate { action() }
    }

    func overtake() {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard case .quiet(let action) = state else { return nil }
            state = .overtaken
            return action
        }
        action?()
    }
}
