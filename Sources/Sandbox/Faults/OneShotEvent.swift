import Synchronization

/// Something that happens at most once and that one task may wait for.
final class OneShotEvent: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Void, any Error>)
        case settled(Result<Void, CancellationError>)
    }

    private let state = Mutex(State.pending)

    /// Marks the event as happened; does nothing if it has happened or was cancelled.
    func fire() { settle(.success(())) }

    /// Marks the event as cancelled: a waiting task gets a `CancellationError`.
    func cancel() { settle(.failure(CancellationError())) }

    private func settle(_ result: Result<Void, CancellationError>) {
        let waiting: CheckedContinuation<Void, any Error>? = state.withLock { state in
            switch state {
            case .settled: return nil
            case .pending:
                state = .settled(result)
                return nil
            case .awaited(let continuation):
                state = .settled(result)
                return continuation
            }
        }
        waiting?.resume(with: result.mapError { $0 as any Error })
    }

    /// Returns when the event has happened, at once if it has already.
    /// - Throws: `CancellationError` if the event or the waiting task is cancelled first.
    func wait() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, CancellationError>? = state.withLock { state in
                    if case .settled(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result.mapError { $0 as any Error }) }
            }
        } onCancel: {
            cancel()
        }
    }
}
