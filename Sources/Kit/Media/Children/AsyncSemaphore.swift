/// How many children run at a time: a queue of bounded length, first come, first served.
actor AsyncSemaphore {
    private var free: Int
    private let longestQueue: Int
    private var queue: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    private var nextNumber = 0

    /// - Parameters:
    ///   - children: those that run at a time.
    ///   - waiting: those that may wait beside.
    init(children: Int, waiting: Int) {
        free = children
        longestQueue = waiting
    }

    /// Runs a job when it is its turn.
    ///
    /// - Throws: ``MediaError/overloaded`` at once where too many wait; `CancellationError` while it waits; what the
    ///   job throws.
    nonisolated func run<Value: Sendable>(_ job: @Sendable () async throws -> Value) async throws -> Value {
        try await take()
        do {
            let value = try await job()
            await release()
            return value
        } catch {
            await release()
            throw error
        }
    }

    /// Jobs that wait now.
    var waiting: Int { queue.count }

    private func take() async throws {
        try Task.checkCancellation()
        if free > 0 {
            free -= 1
            return
        }
        guard queue.count < longestQueue else { throw MediaError.overloaded }
        nextNumber += 1
        let number = nextNumber
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                // Cancelled before it got here: the handler has found nothing to give up.
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    queue.append((number, continuation))
                }
            }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
    }

    private func giveUp(_ number: Int) {
        guard let index = queue.firstIndex(where: { $0.number == number }) else { return }
        queue.remove(at: index).continuation.resume(throwing: CancellationError())
    }

    private func release() {
        if queue.isEmpty { free += 1 } else { queue.removeFirst().continuation.resume() }
    }
}
