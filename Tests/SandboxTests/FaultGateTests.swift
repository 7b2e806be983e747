import Testing

@testable import Sandbox

private let request = MatchedRequest(method: "GET", path: ["v4", "ships"])

@Suite struct FaultGateTests {
    @Test("the count that a flaky fault draws from starts again when a fault is set")
    func ordinal() {
        let gate = FaultGate()
        let fault = Fault.flaky(probability: 0.5, seed: 3)
        let run = {
            gate.set(FaultPlan(fault))
            return (0..<50).map { _ in gate.admit(request, override: nil).decision }
        }
        #expect(run() == run())
    }

    @Test("a request's own fault leaves the upstream's as it is")
    func override() {
        let gate = FaultGate()
        gate.set(FaultPlan(.offline))
        #expect(gate.admit(request, override: .online).decision == .response)
        #expect(gate.admit(request, override: nil).decision.source == .none)
    }

    @Test("a released request meets the fault that is set by then, and is not held twice")
    func readmission() async throws {
        let gate = FaultGate()
        gate.set(FaultPlan(.hold))
        let held = gate.admit(request, override: nil)
        let ticket = gate.hold()
        #expect(gate.waiting == 1)
        #expect(gate.release() == 1)
        try await ticket.released.wait()
        #expect(gate.waiting == 0)
        #expect(gate.readmit(held).decision == .response)
        gate.set(FaultPlan(.offline))
        #expect(gate.readmit(held).decision.source == .none)
    }

    @Test("a released request meets the rest of its combination, whatever is set by then")
    func readmissionOfCombination() throws {
        let gate = FaultGate()
        gate.set(try FaultPlan(parsing: "hold, error(500)"))
        let held = gate.admit(request, override: nil)
        #expect(held.decision.isHeld)
        gate.set(.online)
        let next = gate.readmit(held).decision
        #expect(next == FaultDecision(source: .status(500, retryAfter: nil)))
    }

    @Test("HARN-12 a release may be of so many, those first that wait longest, or of one by its number")
    func release() async throws {
        let gate = FaultGate()
        let tickets = (1...4).map { gate.hold(sequence: $0 * 10) }
        #expect(gate.release(sequence: 30) == 1 && gate.release(sequence: 30) == 0 && gate.release(sequence: 5) == 0)
        try await tickets[2].released.wait()
        #expect(gate.release(count: 2) == 2)
        try await tickets[0].released.wait()
        try await tickets[1].released.wait()
        #expect(gate.waiting == 1)
        gate.forgetSequences()
        #expect(gate.release(sequence: 40) == 0)
        #expect(gate.release() == 1)
        try await tickets[3].released.wait()
    }

    @Test("a closed gate ends what it holds and holds nothing any more")
    func closing() async {
        let gate = FaultGate()
        let before = gate.hold()
        gate.close()
        let after = gate.hold()
        await #expect(throws: CancellationError.self) { try await before.released.wait() }
        await #expect(throws: CancellationError.self) { try await after.released.wait() }
        #expect(gate.waiting == 0)
    }

    @Test("the task that waits for a signal can be cancelled")
    func cancellation() async {
        let signal = OneShotEvent()
        let task = Task { try await signal.wait() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
