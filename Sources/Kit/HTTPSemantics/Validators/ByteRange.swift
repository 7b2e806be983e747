public import HTTPTypes

/// The part of a representation of known length that a `Range` field asks for. RFC 9110 §14.
public enum ByteRange: Sendable, Equatable {
    /// Send everything: no range, another unit, a malformed or repeated field, or several ranges, which a server may
    /// ignore (§14.2).
    case whole
    /// Send these bytes, positions counted from 0.
    case part(ClosedRange<Int>)
    /// The representation has none of these bytes: 416 (§15.5.17).
    case notSatisfiable

    /// Reads the field.
    /// - Parameters:
    ///   - fields: header fields of the request.
    ///   - length: bytes of the whole representation.
    public init(_ fields: HTTPFields, length: Int) {
        let lines = fields[values: .range]
        guard lines.count == 1, let equals = lines[0].firstIndex(of: "="), lines[0][..<equals].lowercased() == "bytes"
        else {
            self = .whole
            return
        }
        let ranges = FieldList.members(of: lines[0][lines[0].index(after: equals)...])
        guard ranges.count == 1, let dash = ranges[0].firstIndex(of: "-") else {
            self = .whole
            return
        }
        self = Self.single(first: ranges[0][..<dash], last: ranges[0][ranges[0].index(after: dash)...], length: length)
    }

    /// Reads `first-last`, `first-` or `-suffix`. RFC 9110 §14.1.2.
    private static func single(first: Substring, last: Substring, length: Int) -> ByteRange {
        guard let lastNumber = last.isEmpty ? Int.max : position(last) else { return .whole }
        if first.isEmpty {
            guard !last.isEmpty else { return .whole }
            return lastNumber == 0 || length == 0 ? .notSatisfiable : .part(max(0, length - lastNumber)...(length - 1))
        }
        guard let firstNumber = position(first), firstNumber <= lastNumber else { return .whole }
        return firstNumber < length ? .part(firstNumber...min(lastNumber, length - 1)) : .notSatisfiable
    }

    /// Reads `1*DIGIT`; a number too large for any representation becomes the largest one.
    private static func position(_ text: Substring) -> Int? {
        text.isDigits ? Int(text) ?? Int.max : nil
    }
}
