import Testing

@testable import Sandbox

@Suite struct FaultGateTests {
    @Test("the count that a flaky fault draws from starts again when a fault is set")
    func ordinal() {
        let gate = FaultGate()
        let fault = Fault.flaky(probability: 0.5, seed: 3)
        let run = {
            gate.set(fault)
            return (0..<50).map { _ in gate.admit(override: nil).decision }
        }
        #expect(run() == run())
    }

    @Test("a request's own fault leaves the upstream's as it is")
    func override() {
        let gate = FaultGate()
        gate.set(.offline)
        #expect(gate.admit(override: .online).decision == .response)
        #expect(gate.admit(override: nil).decision == .reset)
    }

    @Test("a released request meets the fault that is set by then, and is not held twice")
    func readmission() async throws {
        let gate = FaultGate()
        gate.set(.hold)
        let ticket = gate.hold()
        #expect(gate.waiting == 1)
        #expect(gate.release() == 1)
        try await ticket.released.wait()
        #expect(gate.waiting == 0)
        #expect(gate.readmit().decision == .response)
        gate.set(.offline)
        #expect(gate.readmit().decision == .reset)
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
