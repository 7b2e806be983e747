import Foundation

/// All simulated upstreams with their faults, and the journal: everything that a reset resets.
final class SimulatedUpstreams: Sendable {
    struct Slot: Sendable {
        let upstream: any SimulatedUpstream
        let gate = FaultGate()
    }

    let slots: [Slot]
    let journal = Journal()
    /// The time that the services have, and the journal.
    let now: @Sendable () -> Date

    /// - Throws: ``SandboxError/malformedData(resource:reason:)``.
    init(seed: UInt64, now: @escaping @Sendable () -> Date = { Date() }) throws(SandboxError) {
        self.now = now
        let single: [any SimulatedUpstream] = [
            try SpaceX(seed: seed), try Catalogue(seed: seed), People(seed: seed), Geocoder(),
        ]
        slots = (single + YandexDisk.upstreams(seed: seed, now: now)).map { Slot(upstream: $0) }
    }

    /// Simulates no upstream: for the controls of a server with real ones.
    init(now: @escaping @Sendable () -> Date) {
        self.now = now
        slots = []
    }

    func slot(named name: String) -> Slot? {
        slots.first { $0.upstream.name.rawValue == name }
    }

    /// Resets data, journal and faults. Held requests are released and see the state of that moment, so data is reset
    /// before gates.
    func reset() {
        for slot in slots { slot.upstream.reset() }
        journal.clear()
        for slot in slots { slot.gate.reset() }
    }

    /// Ends everything that waits, because the sandbox stops.
    func close() {
        journal.close()
        for slot in slots { slot.gate.close() }
    }
}
