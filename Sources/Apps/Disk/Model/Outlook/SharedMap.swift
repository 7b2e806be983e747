/// A dictionary whose copies share their unchanged parts: a change of a copy costs about the root of the number of its
/// values, and not all of them.
struct SharedMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// As many as each of them has values, about; a power of two.
    private var parts: [[Key: Value]] = [[:]]
    /// The number of values.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    subscript(key: Key) -> Value? {
        get { parts[part(of: key)][key] }
        set {
            let part = part(of: key)
            let before = parts[part].count
            parts[part][key] = newValue
            count += parts[part].count - before
            spread()
        }
    }

    /// Changes a value in its place, which is made if it is not there.
    mutating func update(_ key: Key, default made: @autoclosure () -> Value, _ body: (inout Value) -> Void) {
        let part = part(of: key)
        let before = parts[part].count
        body(&parts[part][key, default: made()])
        count += parts[part].count - before
        spread()
    }

    /// Changes a value in its place, if it is there.
    mutating func update(_ key: Key, _ body: (inout Value) -> Void) {
        let part = part(of: key)
        guard let index = parts[part].index(forKey: key) else { return }
        body(&parts[part].values[index])
    }

    private func part(of key: Key) -> Int { key.hashValue & (parts.count - 1) }

    private mutating func spread() {
        guard count > parts.count * parts.count * 2 else { return }
        let values = parts
        parts = Array(repeating: [:], count: parts.count * 2)
        for (key, value) in values.joined() { parts[part(of: key)][key] = value }
    }
}

extension SharedMap: Sequence {
    func makeIterator() -> FlattenSequence<[[Key: Value]]>.Iterator { parts.joined().makeIterator() }
}
