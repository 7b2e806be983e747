import Synchronization

/// A mutual exclusion lock for each key, fair: tasks get a key in the order of their requests.
///
/// Apps serialise changes of one document, one note or one path with it.
package final class KeyedMutex: Sendable {
    private struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// Keys that are held, with the tasks that wait for them.
        var queues: [String: [Waiter]] = [:]
        /// Numbers of tasks that are about to wait: one whose time ends before that is not here any more.
        var arriving: Set<Int> = []
        var nextNumber = 0
    }

    private let state = Mutex(State())

    /// The key was not free in time.
    package struct WaitTooLong: Error {
        package init() {}
    }

    package init() {}

    /// Runs `body` while it holds all of these keys.
    ///
    /// Keys are taken in their own order, so that two bodies never wait for each other.
    ///
    /// - Parameters:
    ///   - timeout: Returns when the wait for a key is over, or throws if its task is cancelled; nil waits without an
    ///     end.
    /// - Throws: `CancellationError` if the task is cancelled while it waits; ``WaitTooLong``; errors of `body`.
    package func holding<Result>(
        _ keys: [String],
        timeout: (@Sendable () async throws -> Void)? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        var held: [String] = []
        defer { for id in held { release(id) } }
        for id in Set(keys).sorted() {
            try await acquire(id, timeout)
            held.append(id)
        }
        return try await body()
    }

    private func acquire(_ id: String, _ timeout: (@Sendable () async throws -> Void)?) async throws {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.arriving.insert(state.nextNumber)
            return state.nextNumber
        }
        let timer = timeout.map { timeout in
            Task {
                // Cancelled once the key is held.
                guard (try? await timeout()) != nil else { return }
                giveUp(id, number, throwing: WaitTooLong())
            }
        }
        defer { timer?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    let isInTime = state.arriving.remove(number) != nil
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.queues[id] == nil {
                        state.queues[id] = []
                        return .success(())
                    }
                    guard isInTime else { return .failure(WaitTooLong()) }
                    state.queues[id]?.append(Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            giveUp(id, number, throwing: CancellationError())
        }
    }

    /// Ends the wait of a task that has not got its key yet.
    private func giveUp(_ id: String, _ number: Int, throwing error: any Error) {
        let waiter = state.withLock { state -> Waiter? in
            state.arriving.remove(number)
            guard let index = state.queues[id]?.firstIndex(where: { $0.number == number }) else { return nil }
            return state.queues[id]?.remove(at: index)
        }
        waiter?.continuation.resume(throwing: error)
    }

    private func release(_ id: String) {
        let next = state.withLock { state -> Waiter? in
            guard state.queues[id]?.isEmpty == false else {
                state.queues[id] = nil
                return nil
            }
            return state.queues[id]?.removeFirst()
        }
        next?.continuation.resume()
    }

    func isHeld(_ id: String) -> Bool { state.withLock { $0.queues[id] != nil } }

    /// Number of tasks that wait for a key.
    func waiting(for id: String) -> Int { state.withLock { $0.queues[id]?.count ?? 0 } }
}
