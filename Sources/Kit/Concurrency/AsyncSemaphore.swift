/// A counting semaphore for tasks, fair: tasks that wait get a permit in the order in which they asked. The number of
/// waiting tasks is bounded.
public actor AsyncSemaphore {
    /// The queue is full.
    public struct QueueFull: Error, Equatable {}

    private let permits: Int
    private var free: Int
    private let maximumWaiting: Int
    private var queue: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    private var nextNumber = 0

    /// Creates a semaphore.
    ///
    /// - Parameters:
    ///   - permits: bodies that run at a time.
    ///   - maximumWaiting: tasks that may wait for a permit.
    public init(permits: Int, maximumWaiting: Int) {
        self.permits = permits
        free = permits
        self.maximumWaiting = maximumWaiting
    }

    /// Runs `body` while it holds a permit.
    ///
    /// - Throws: ``QueueFull`` at once if too many tasks wait; `CancellationError` if the task is cancelled while it
    ///   waits; what `body` throws.
    public nonisolated func withPermit<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws
        -> Value
    {
        try await acquire()
        do {
            let value = try await body()
            await release()
            return value
        } catch {
            await release()
            throw error
        }
    }

    /// Number of tasks that wait for a permit.
    public var waiting: Int { queue.count }

    /// Number of tasks that hold a permit.
    public var running: Int { permits - free }

    private func acquire() async throws {
        try Task.checkCancellation()
        if free > 0 {
            free -= 1
            return
        }
        guard queue.count < maximumWaiting else { throw QueueFull() }
        nextNumber += 1
        let number = nextNumber
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                // If the task was cancelled before it is in the queue, the handler finds nothing to remove.
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    queue.append((number, continuation))
                }
            }
        } onCancel: {
            Task { await self.cancel(number) }
        }
    }

    private func cancel(_ number: Int) {
        guard let index = queue.firstIndex(where: { $0.number == number }) else { return }
        queue.remove(at: index).continuation.resume(throwing: CancellationError())
    }

    private func release() {
        if queue.isEmpty { free += 1 } else { queue.removeFirst().continuation.resume() }
    }
}
