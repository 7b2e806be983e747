import Upstream

/// Which names have which one to three bytes in a row, so that a search looks at few of them.
struct OutlookNames: Sendable {
    /// The most bytes in a row by which names are found.
    static let longest = 3

    private var numbers: [UInt32: SortedElements<Int64>] = [:]

    mutating func insert(_ number: Int64, _ name: String) {
        for gram in Self.grams(of: name) { numbers[gram, default: SortedElements(by: <)].insert(number) }
    }

    mutating func remove(_ number: Int64, _ name: String) {
        for gram in Self.grams(of: name) {
            numbers[gram]?.remove(number)
            if numbers[gram]?.elements.isEmpty == true { numbers[gram] = nil }
        }
    }

    /// Returns names among which are all that have a text, in order. Of at most ``longest`` bytes, all of them have it.
    func candidates(_ text: [UInt8]) -> ArraySlice<Int64> {
        Self.grams(text, length: min(text.count, Self.longest)).map { numbers[$0]?.elements ?? [] }
            .min { $0.count < $1.count } ?? []
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

    private static func grams(of name: String) -> Set<UInt32> {
        let bytes = Array(name.utf8)
        return (1...longest).reduce(into: []) { $0.formUnion(grams(bytes, length: $1)) }
    }

    /// Returns all sequences of `length` bytes, each behind a 1 bit that marks its length.
    private static func grams(_ bytes: [UInt8], length: Int) -> Set<UInt32> {
        Set(
            bytes.indices.dropLast(length - 1).map { start in
                bytes[start..<start + length].reduce(1) { $0 << 8 | UInt32($1) }
            }
        )
    }
}
