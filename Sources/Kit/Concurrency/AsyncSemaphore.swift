/// A counting semaphore for tasks, fair: tasks get permits in the order of their requests. The number of
/// waiting tasks is bounded.
///
/// Reserved permits are for short tasks only, so that those need not wait for long ones.
package actor AsyncSemaphore {
    package struct QueueFull: Error, Equatable {}
    /// No permit was free in time.
    package struct WaitTooLong: Error, Equatable {}

    private struct Waiter {
        let number: Int
        let isShort: Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private enum Permit { case common, reserved }
    private let permits: Int
    private var free: Int
    private var freeReserved: Int
    private let maximumWaiting: Int
    private var queue: [Waiter] = []
    /// Permits that were passed on to tasks that wait no more and have not run yet.
    private var passed: [Int: Permit] = [:]
    private var nextNumber = 0

    /// - Parameters:
    ///   - permits: bodies that run at a time.
    ///   - reserved: bodies of short tasks that run in addition.
    ///   - maximumWaiting: long tasks that may wait for a permit, and short ones.
    package init(permits: Int, reserved: Int = 0, maximumWaiting: Int) {
        self.permits = permits + reserved
        free = permits
        freeReserved = reserved
        self.maximumWaiting = maximumWaiting
    }

    /// Runs `body` while it holds a permit.
    ///
    /// - Parameters:
    ///   - isShort: whether the task may hold a reserved permit.
    ///   - end: when the task waits no longer; nil waits without an end.
    /// - Throws: ``QueueFull`` at once if too many tasks wait; ``WaitTooLong``; `CancellationError` if the task is
    ///   cancelled while it waits; errors of `body`.
    package nonisolated func withPermit<Value: Sendable>(
        isShort: Bool = false,
        before end: ContinuousClock.Instant? = nil,
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let permit = try await acquire(isShort: isShort, before: end)
        do {
            let value = try await body()
            await release(permit)
            return value
        } catch {
            await release(permit)
            throw error
        }
    }

    /// Number of tasks that wait for a permit.
    package var waiting: Int { queue.count }

    /// Number of tasks that hold a permit.
    package var running: Int { permits - free - freeReserved }

    private func acquire(isShort: Bool, before end: ContinuousClock.Instant?) async throws -> Permit {
        try Task.checkCancellation()
        if let permit = takeFree(isShort: isShort) { return permit }
        guard queue.count(where: { $0.isShort == isShort }) < maximumWaiting else { throw QueueFull() }
        nextNumber += 1
        let number = nextNumber
        let timer = end.map { end in
            Task {
                // Cancelled once the permit is held.
                guard (try? await Task.sleep(until: end, clock: .continuous)) != nil else { return }
                cancel(number, throwing: WaitTooLong())
            }
        }
        defer { timer?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                // If the task was cancelled before it is in the queue, the handler finds nothing to remove.
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    queue.append(Waiter(number: number, isShort: isShort, continuation: continuation))
                }
            }
        } onCancel: {
            Task { await self.cancel(number) }
        }
        return passed.removeValue(forKey: number) ?? .common
    }

    private func takeFree(isShort: Bool) -> Permit? {
        if free > 0 {
            free -= 1
            return .common
        }
        guard isShort, freeReserved > 0 else { return nil }
        freeReserved -= 1
        return .reserved
    }

    private func cancel(_ number: Int, throwing error: any Error = CancellationError()) {
        guard let index = queue.firstIndex(where: { $0.number == number }) else { return }
        queue.remove(at: index).continuation.resume(throwing: error)
    }

    /// Passes a permit on to the first task that waits and may hold it.
    private func release(_ permit: Permit) {
        guard let index = queue.firstIndex(where: { permit == .common || $0.isShort }) else {
            switch permit {
            case .common: free += 1
            case .reserved: freeReserved += 1
            }
            return
        }
        let next = queue.remove(at: index)
        passed[next.number] = permit
        next.continuation.resume()
    }
}
