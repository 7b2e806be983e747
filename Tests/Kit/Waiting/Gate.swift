package import Testing

/// Holds tasks until the test opens it.
package final class Gate: Sendable {
    private let state = Watched((isOpen: false, arrivals: 0))

    /// Creates a closed gate.
    package init() {}

    /// Waits until the gate is open, or the task is cancelled.
    package func pass() async {
        state.update { $0.arrivals += 1 }
        await state.suspend { $0.isOpen }
    }

    /// Waits until the gate is open.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func passUnlessCancelled() async throws {
        await pass()
        try Task.checkCancellation()
    }

    /// Opens the gate for all tasks, those that come later included.
    package func open() { state.update { $0.isOpen = true } }

    /// Waits until this many tasks have arrived.
    package func arrivals(_ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
        await state.until("arrival \(count) at a gate", sourceLocation: sourceLocation) { $0.arrivals >= count }
    }
}
