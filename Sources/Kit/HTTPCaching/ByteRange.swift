public import HTTPTypes

/// What a `Range` field asks of a representation of a given length. RFC 9110 §14.
public enum ByteRange: Sendable, Equatable {
    /// Send everything: no range, another unit, a broken or repeated field, or several ranges, which a server may
    /// disregard (§14.2).
    case whole
    /// Send these bytes, positions counted from 0.
    case part(ClosedRange<Int>)
    /// Nothing of it is there: 416 (§15.5.17).
    case notSatisfiable

    /// Reads the field.
    /// - Parameter length: bytes of the whole representation.
    public init(_ fields: HTTPFields, length: Int) {
        let lines = fields[values: .range]
        guard lines.count == 1, let equals = lines[0].firstIndex(of: "="), lines[0][..<equals].lowercased() == "bytes"
        else {
            self = .whole
            return
        }
        let ranges = FieldList.members(of: String(lines[0][lines[0].index(after: equals)...]))
        guard ranges.count == 1, let dash = ranges[0].firstIndex(of: "-") else {
            self = .whole
            return
        }
        self = Self.single(first: ranges[0][..<dash], last: ranges[0][ranges[0].index(after: dash)...], length: length)
    }

    /// `first-last`, `first-` or `-suffix`. RFC 9110 §14.1.2.
    private static func single(first: Substring, last: Substring, length: Int) -> ByteRange {
        guard let lastNumber = last.isEmpty ? Int.max : position(last) else { return .whole }
        if first.isEmpty {
            guard !last.isEmpty else { return .whole }
            return lastNumber == 0 || length == 0 ? .notSatisfiable : .part(max(0, length - lastNumber)...(length - 1))
        }
        guard let firstNumber = position(first), firstNumber <= lastNumber else { return .whole }
        return firstNumber < length ? .part(firstNumber...min(lastNumber, length - 1)) : .notSatisfiable
    }

    /// `1*DIGIT`; what is too large for any representation is the largest number.
    private static func position(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int(text) ?? Int.max
    }
}
