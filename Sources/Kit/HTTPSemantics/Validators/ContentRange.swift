public import HTTPTypes

/// Which bytes of a representation a 206 has. RFC 9110 §14.4.
public struct ContentRange: Sendable, Equatable {
    /// Positions of the bytes, counted from 0.
    public let range: Range<Int>
    /// Bytes of the whole representation.
    public let completeLength: Int

    /// Reads the field; nil if it is absent, repeated or invalid, has another unit, or leaves the length of the
    /// representation open.
    public init?(_ fields: HTTPFields) {
        let lines = fields[values: .contentRange]
        guard lines.count == 1 else { return nil }
        let words = FieldList.trim(lines[0]).split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            let length = Self.number(halves[1]), first <= last, last < length
        else { return nil }
        range = first..<(last + 1)
        completeLength = length
    }

    private static func number(_ text: Substring) -> Int? { text.isDigits ? Int(text) : nil }
}
