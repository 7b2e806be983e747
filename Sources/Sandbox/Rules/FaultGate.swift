import Synchronization

/// The faults of one upstream, and the requests that are held.
final class FaultGate: Sendable {
    private struct Held {
        let released: OneShotEvent
        /// Number of its entry in the journal; nil after the journal was cleared.
        var sequence: Int?
    }

    private struct State {
        var rules = RuleSet()
        var held: [UInt64: Held] = [:]
        var nextTicket: UInt64 = 0
        var closed = false
    }

    /// A request that is held. It counts as waiting until ``FaultGate/leave(_:)``.
    struct Ticket: Sendable {
        fileprivate let number: UInt64
        let released: OneShotEvent
    }

    private let state: Mutex<State>
    /// The rules at first, and after a reset.
    private let standard: RuleSet

    init(_ standard: RuleSet = RuleSet()) {
        self.standard = standard
        state = Mutex(State(rules: standard))
    }

    /// The rules, with their counts, and the upstream's own fault.
    var rules: RuleSet { state.withLock { $0.rules } }

    /// The upstream's own fault.
    var fault: FaultPlan { rules.fault }

    /// Number of requests that are held.
    var waiting: Int { state.withLock { $0.held.count } }

    /// Sets the fault for later requests and starts its count at 0. Held requests remain held.
    func set(_ fault: FaultPlan) { change { $0.set(fault) } }

    /// Changes the rules for later requests.
    func change<Result: Sendable>(_ change: (inout RuleSet) -> Result) -> Result {
        state.withLock { change(&$0.rules) }
    }

    /// Counts a request and returns the faults that are applied to it.
    func admit(_ request: MatchedRequest, override: FaultPlan?) -> Admission {
        change { $0.decide(request, override: override) }
    }

    /// Counts a held request that is released, and returns the faults that are applied to it after the release.
    func readmit(_ admission: Admission) -> Admission { change { $0.decide(released: admission) } }

    /// - Parameter sequence: Number of the request in the journal.
    func hold(sequence: Int? = nil) -> Ticket {
        let signal = OneShotEvent()
        return state.withLock { state in
            let ticket = Ticket(number: state.nextTicket, released: signal)
            state.nextTicket += 1
            if state.closed {
                signal.cancel()
            } else {
                state.held[ticket.number] = Held(released: signal, sequence: sequence)
            }
            return ticket
        }
    }

    func leave(_ ticket: Ticket) {
        _ = state.withLock { $0.held.removeValue(forKey: ticket.number) }
    }

    /// Releases held requests, the longest held first.
    ///
    /// - Parameters:
    ///   - count: The largest number of requests.
    ///   - sequence: The number of the only request in the journal; nil for any.
    /// - Returns: The number of released requests.
    @discardableResult
    func release(count: Int = .max, sequence: Int? = nil) -> Int {
        let signals = state.withLock { state in
            let chosen = state.held.filter { sequence == nil || $0.value.sequence == sequence }.sorted {
                $0.key < $1.key
            }.prefix(count)
            for (number, _) in chosen { state.held[number] = nil }
            return chosen.map(\.value.released)
        }
        for event in signals { event.fire() }
        return signals.count
    }

    /// Removes the numbers of held requests, because the journal was cleared and its numbers start again from 1.
    func forgetSequences() {
        state.withLock { state in
            for number in state.held.keys { state.held[number]?.sequence = nil }
        }
    }

    /// Returns to the rules and the fault of the start, and releases every held request.
    func reset() {
        change { [standard] in $0 = standard }
        release()
    }

    /// Ends every held request without a response and holds none from now on, because the sandbox stops.
    func close() {
        let held = state.withLock { state in
            state.closed = true
            defer { state.held = [:] }
            return state.held.values.map(\.released)
        }
        for event in held { event.cancel() }
    }
}

/// An event that happens at most once, and for which one task may wait.
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
