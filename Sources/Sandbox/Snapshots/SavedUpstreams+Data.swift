extension SimulatedUpstreams {
    /// The data of all upstreams.
    var data: [any Sendable] { slots.map { $0.upstream.save() } }

    /// Takes data that was saved before.
    func restore(_ data: [any Sendable]) {
        for (slot, saved) in zip(slots, data) { slot.upstream.restore(saved) }
    }

    func save() -> SavedUpstreams { SavedUpstreams(data: data, rules: slots.map(\.gate.rules), stubs: stubbed) }

    /// Resets everything, and takes what was saved.
    func restore(_ saved: SavedUpstreams) {
        reset()
        for stub in saved.stubs { _ = add(stub) }
        restore(saved.data)
        for (slot, rules) in zip(slots, saved.rules) { slot.gate.change { $0 = rules } }
    }
}

// The data of each upstream. What belongs to another kind is not taken, which no caller passes.
extension SpaceX {
    func save() -> any Sendable { ships.data }

    func restore(_ saved: any Sendable) {
        if let data = saved as? JSONValue { ships.replace(with: data) }
    }
}

extension Catalogue {
    func save() -> any Sendable { data.rows }

    func restore(_ saved: any Sendable) {
        if let rows = saved as? CatalogueData.Rows { data.update { $0 = rows } }
    }
}
