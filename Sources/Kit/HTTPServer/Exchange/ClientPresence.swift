import Synchronization

/// Whether the client of a connection is still connected, for work that is otherwise cancelled.
///
/// A client that has closed its output may still read: only a write shows that it has closed. So the connection sends
/// `102 Processing` (RFC 2518 §10.1; RFC 9110 §15.2: a client may ignore interim responses) while such work runs, and a
/// client that has closed its socket resets the connection. It does so again at intervals: a client may take the first
/// and close its socket then.
public final class ClientPresence: Sendable {
    private struct State {
        var hasLeft = false
        /// Writes to a client that has closed its output; nil until it has.
        var probe: (@Sendable () -> Void)?
        var work: [Int: @Sendable () -> Void] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())

    /// Creates the presence of a connected client.
    public init() {}

    /// Runs `body` in a task that is cancelled if the client disconnects.
    ///
    /// - Throws: `CancellationError` if the client has already disconnected; what `body` throws.
    public func whilePresent<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws
        -> Value
    {
        // A task begins at once: one that is cancelled afterwards may have done its work.
        if state.withLock({ $0.hasLeft }) { throw CancellationError() }
        let task = Task { try await body() }
        let number = begin { task.cancel() }
        defer { end(number) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// The client has closed its output.
    ///
    /// - Parameter probe: writes to it, at once and at intervals while work is running; is called on any thread.
    func outputClosed(probe: @escaping @Sendable () -> Void) {
        let isNeeded = state.withLock { state in
            state.probe = probe
            return !state.work.isEmpty
        }
        if isNeeded { probe() }
    }

    /// The connection is closed.
    func left() {
        let work = state.withLock { state in
            state.hasLeft = true
            state.probe = nil
            defer { state.work = [:] }
            return state.work.values
        }
        for cancel in work { cancel() }
    }

    /// Whether work is running that is cancelled if the client disconnects.
    var isAwaited: Bool { state.withLock { !$0.work.isEmpty } }

    /// Registers work, and writes to a client that has closed its output.
    ///
    /// - Returns: the number under which the work ends.
    func begin(_ cancel: @escaping @Sendable () -> Void) -> Int {
        let (number, hasLeft, probe) = state.withLock { state in
            state.nextNumber += 1
            if !state.hasLeft { state.work[state.nextNumber] = cancel }
            return (state.nextNumber, state.hasLeft, state.probe)
        }
        if hasLeft { cancel() } else { probe?() }
        return number
    }

    /// The work has ended.
    func end(_ number: Int) {
        state.withLock { $0.work[number] = nil }
    }
}
