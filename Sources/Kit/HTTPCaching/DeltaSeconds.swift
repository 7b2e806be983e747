/// The argument of a directive that takes a number of seconds. RFC 9111 §1.2.2.
public enum DeltaSeconds: Sendable, Equatable {
    /// A valid count, at most ``limit``.
    case seconds(Int)
    /// Present, but not a count, or given twice with different counts. Where freshness depends on it, the response is
    /// stale (RFC 9111 §4.2.1).
    case invalid

    /// What a larger number is cut to: 2³¹. RFC 9111 §1.2.2.
    public static let limit = 2_147_483_648

    /// Reads `1*DIGIT`; anything else is ``invalid``.
    public init(_ text: some StringProtocol) {
        guard let seconds = Self.parse(text) else {
            self = .invalid
            return
        }
        self = .seconds(seconds)
    }

    /// The count, or nil when it is not valid.
    public var value: Int? {
        if case .seconds(let seconds) = self { seconds } else { nil }
    }

    /// `1*DIGIT`, cut to ``limit``; nil when the text is anything else.
    static func parse(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty else { return nil }
        var value = 0
        for byte in text.utf8 {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            value = min(value * 10 + Int(byte - 0x30), limit)
        }
        return value
    }
}
