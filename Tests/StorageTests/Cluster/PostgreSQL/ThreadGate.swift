import Dispatch
import TestKit
import Testing

/// Holds a thread, such as one that a transaction blocks, until the test opens it.
final class ThreadGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let arrivals = Watched(0)

    /// Holds the calling thread, unless the test forgets it.
    func hold() {
        arrivals.update { $0 += 1 }
        _ = semaphore.wait(timeout: .now() + .seconds(120))
        semaphore.signal()
    }

    /// Waits until this many threads have arrived.
    func arrived(_ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
        await arrivals.until("thread \(count) at a gate", sourceLocation: sourceLocation) { $0 >= count }
    }

    /// Lets all threads pass.
    func open() { semaphore.signal() }
}
