import Synchronization

/// The port of a server that is starting, for any number of tasks that wait for it.
final class Listening: Sendable {
    private struct State {
        var outcome: Result<Int, SandboxError>?
        var waiters: [OneShotEvent] = []
    }

    private let state = Mutex(State())

    func succeed(port: Int) { settle(.success(port)) }

    /// A failure after a success replaces it: the port is no longer there.
    func fail(_ error: SandboxError) { settle(.failure(error)) }

    private func settle(_ outcome: Result<Int, SandboxError>) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.fire() }
    }

    /// Whether the port is open now.
    var isListening: Bool {
        state.withLock { state in if case .success = state.outcome { true } else { false } }
    }

    var port: Int {
        get async throws {
            let settled = OneShotEvent()
            state.withLock { state in
                if state.outcome == nil { state.waiters.append(settled) } else { settled.fire() }
            }
            try await settled.wait()
            return try state.withLock { $0.outcome ?? .failure(.stopped) }.get()
        }
    }
}
