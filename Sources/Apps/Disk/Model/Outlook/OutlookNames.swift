import Upstream

/// Which names have three bytes in a row, so that a search looks at few of them.
struct OutlookNames: Sendable {
    private var all = SortedElements<Int64>(by: <)
    private var numbers: [UInt32: SortedElements<Int64>] = [:]

    mutating func insert(_ number: Int64, _ name: String) {
        all.insert(number)
        for gram in Self.grams(Array(name.utf8)) { numbers[gram, default: SortedElements(by: <)].insert(number) }
    }

    mutating func remove(_ number: Int64, _ name: String) {
        all.remove(number)
        for gram in Self.grams(Array(name.utf8)) {
            numbers[gram]?.remove(number)
            if numbers[gram]?.elements.isEmpty == true { numbers[gram] = nil }
        }
    }

    /// Returns names among which are all that have a text, in order.
    func candidates(_ text: [UInt8]) -> ContiguousArray<Int64> {
        let grams = Self.grams(text)
        guard !grams.isEmpty else { return all.elements }
        return grams.map { numbers[$0]?.elements ?? [] }.min { $0.count < $1.count } ?? []
    }

    /// Whether a name has a text, byte by byte, as the store compares them.
    static func has(_ name: String, _ text: [UInt8]) -> Bool {
        var name = name
        return name.withUTF8 { name in
            text.withUnsafeBufferPointer { text in
                guard let first = text.first else { return true }
                return (0..<max(name.count - text.count + 1, 0)).contains { start in
                    name[start] == first && name[start..<start + text.count].elementsEqual(text)
                }
            }
        }
    }

    private static func grams(_ bytes: [UInt8]) -> Set<UInt32> {
        Set(
            bytes.indices.dropLast(2).map { start in
                bytes[start..<start + 3].reduce(0) { $0 << 8 | UInt32($1) }
            }
        )
    }
}
