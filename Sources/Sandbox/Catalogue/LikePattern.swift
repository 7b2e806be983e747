/// SQLite's `LIKE`: `%` matches any text, `_` any one character, and upper and lower case are the same for ASCII
/// letters only.
struct LikePattern: Sendable {
    private let pattern: [Unicode.Scalar]

    init(_ pattern: String) { self.pattern = pattern.unicodeScalars.map(Self.folded) }

    func matches(_ text: String) -> Bool {
        let text = text.unicodeScalars.map(Self.folded)
        var (position, index) = (0, 0)
        // Where to continue after a mismatch: after the last `%`, one character later each time.
        var retry: (pattern: Int, text: Int)?
        while index < text.count {
            if position < pattern.count, pattern[position] == "%" {
                retry = (position + 1, index)
                position += 1
            } else if position < pattern.count, pattern[position] == "_" || pattern[position] == text[index] {
                position += 1
                index += 1
            } else if let last = retry {
                retry = (last.pattern, last.text + 1)
                (position, index) = (last.pattern, last.text + 1)
            } else {
                return false
            }
        }
        return pattern[position...].allSatisfy { $0 == "%" }
    }

    private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        (0x41...0x5A).contains(scalar.value) ? Unicode.Scalar(UInt8(scalar.value) + 0x20) : scalar
    }
}
