import Synchronization

/// The fault of one upstream, the number of requests that it was applied to, and the requests that are held.
final class FaultGate: Sendable {
    private struct State {
        var fault = Fault.online
        var ordinal: UInt64 = 0
        var held: [UInt64: OneShotEvent] = [:]
        var nextTicket: UInt64 = 0
        var closed = false
    }

    /// A request that is held. Counts as waiting from its making until ``FaultGate/leave(_:)``.
    struct Ticket: Sendable {
        fileprivate let number: UInt64
        let released: OneShotEvent
    }

    private let state = Mutex(State())

    var fault: Fault { state.withLock { $0.fault } }

    /// Number of requests that are held.
    var waiting: Int { state.withLock { $0.held.count } }

    /// Sets the fault for the requests from now on and starts its count at 0. Held requests stay held.
    func set(_ fault: Fault) {
        state.withLock {
            $0.fault = fault
            $0.ordinal = 0
        }
    }

    /// Counts a request and returns the fault that is applied to it and its decision.
    func admit(override: Fault?) -> (fault: Fault, decision: FaultDecision) {
        state.withLock { state in
            let fault = override ?? state.fault
            defer { state.ordinal += 1 }
            return (fault, fault.decision(ordinal: state.ordinal))
        }
    }

    /// Counts a request that was held and is released: the fault that is set now is applied to it; `hold` counts as
    /// `online`, so nothing is held twice.
    func readmit() -> (fault: Fault, decision: FaultDecision) {
        let (fault, decision) = admit(override: nil)
        return decision == .hold ? (.online, .response) : (fault, decision)
    }

    func hold() -> Ticket {
        let signal = OneShotEvent()
        return state.withLock { state in
            let ticket = Ticket(number: state.nextTicket, released: signal)
            state.nextTicket += 1
            if state.closed { signal.cancel() } else { state.held[ticket.number] = signal }
            return ticket
        }
    }

    func leave(_ ticket: Ticket) {
        _ = state.withLock { $0.held.removeValue(forKey: ticket.number) }
    }

    /// Releases every held request.
    /// - Returns: How many there were.
    @discardableResult
    func release() -> Int {
        takeHeld { _ in }.map { $0.fire() }.count
    }

    /// Resets the fault to `online` and releases every held request.
    func reset() {
        let held = takeHeld {
            $0.fault = .online
            $0.ordinal = 0
        }
        for event in held { event.fire() }
    }

    /// Ends every held request without a response and holds none from now on, because the sandbox stops.
    func close() {
        for event in takeHeld({ $0.closed = true }) { event.cancel() }
    }

    private func takeHeld(_ change: (inout State) -> Void) -> [OneShotEvent] {
        state.withLock { state in
            change(&state)
            let signals = state.held.sorted { $0.key < $1.key }.map(\.value)
            state.held = [:]
            return signals
        }
    }
}
