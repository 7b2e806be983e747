/// A number of seconds in a field or directive. RFC 9111 §1.2.2.
public enum DeltaSeconds: Sendable, Equatable {
    /// A valid count, at most ``limit``.
    case seconds(Int)
    /// Present, but not a count, or given twice with different counts. If freshness depends on it, the response is
    /// stale (RFC 9111 §4.2.1).
    case invalid

    /// The number to which a larger one is reduced: 2³¹. RFC 9111 §1.2.2.
    public static let limit = 2_147_483_648

    /// Reads `1*DIGIT`; anything else is ``invalid``.
    public init(_ text: some StringProtocol) {
        guard let seconds = Self.parse(text) else {
            self = .invalid
            return
        }
        self = .seconds(seconds)
    }

    /// The count; nil if it is invalid.
    public var value: Int? {
        if case .seconds(let seconds) = self { seconds } else { nil }
    }

    /// Reads `1*DIGIT`.
    /// - Returns: the number, at most ``limit``; nil if the text is anything else.
    public static func parse(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty else { return nil }
        var value = 0
        for byte in text.utf8 {
            guard byte.isASCIIDigit else { return nil }
            value = min(value * 10 + Int(byte - 0x30), limit)
        }
        return value
    }
}
