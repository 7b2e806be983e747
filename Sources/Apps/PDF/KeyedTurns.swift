import Synchronization

/// One at a time of what has the same key, in the order of arrival: changes of one document, drawings of one picture.
final class KeyedTurns: Sendable {
    private struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// Keys whose turn somebody has, with those who wait behind.
        var queues: [String: [Waiter]] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())

    /// Runs `body` while no other body has any of these keys. They are taken in their own order, so that two bodies never wait for each other.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits; what `body` throws.
    func holding<Result>(
        _ keys: [String],
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        var held: [String] = []
        defer { for id in held { giveBack(id) } }
        for id in Set(keys).sorted() {
            try await take(id)
            held.append(id)
        }
        return try await body()
    }

    private func take(_ id: String) async throws {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.queues[id] == nil {
                        state.queues[id] = []
                        return .success(())
                    }
                    state.queues[id]?.append(Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard let index = state.queues[id]?.firstIndex(where: { $0.number == number }) else { return nil }
                return state.queues[id]?.remove(at: index)
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    private func giveBack(_ id: String) {
        let next = state.withLock { state -> Waiter? in
            guard state.queues[id]?.isEmpty == false else {
                state.queues[id] = nil
                return nil
            }
            return state.queues[id]?.removeFirst()
        }
        next?.continuation.resume()
    }

    /// Whether somebody has the turn of a key.
    func isHeld(_ id: String) -> Bool { state.withLock { $0.queues[id] != nil } }

    /// How many wait for a key.
    func waiting(for id: String) -> Int { state.withLock { $0.queues[id]?.count ?? 0 } }
}
