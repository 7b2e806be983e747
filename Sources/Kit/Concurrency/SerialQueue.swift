import Dispatch

/// Runs work that takes long on a thread of its own, one piece after the other.
///
/// Swift's pool has one thread for each processor: two pieces of work that take half a second would hold up all
/// requests of a machine with two. One at a time also bounds the memory.
package final class SerialQueue: Sendable {
    private let queue: DispatchQueue

    /// Creates a queue.
    ///
    /// - Parameter label: its name in reports of the system.
    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs work after all that was started before.
    ///
    /// - Throws: errors of `work`.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
