/// The upstreams with what stands before them, and the journal of all: everything that a reset resets.
final class SimulatedUpstreams: Sendable {
    struct Slot: Sendable {
        let upstream: any SimulatedUpstream
        let gate = FaultGate()
    }

    let places: [Slot]
    let journal = Journal()

    /// - Throws: ``SandboxError/malformedData(resource:reason:)``.
    init(seed: UInt64) throws(SandboxError) {
        let single: [any SimulatedUpstream] = [
            try SpaceX(seed: seed), try Catalogue(seed: seed), People(seed: seed), Geocoder(),
        ]
        places = (single + YandexDisk.upstreams(seed: seed)).map { Slot(upstream: $0) }
    }

    func place(named name: String) -> Slot? {
        places.first { $0.upstream.name.rawValue == name }
    }

    /// Faults, data and journal as at the start. Held requests go on and meet what is then there, so data comes before
    /// gates.
    func reset() {
        places.forEach { $0.upstream.reset() }
        journal.clear()
        places.forEach { $0.gate.reset() }
    }

    /// Ends everything that waits: the sandbox stops.
    func close() {
        journal.close()
        places.forEach { $0.gate.close() }
    }
}
