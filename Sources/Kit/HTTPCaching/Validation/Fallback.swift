/// The failures of an upstream that permit the use of a stored response. RFC 9111 §4.2.4, §4.3.3, RFC 5861 §4.
///
/// If a failure is not covered, the error itself is the response: 502 or 504, never the stored one (RFC 9111
/// §5.2.2.2).
public struct Fallback: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Creates a set of failures.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// No response: not reachable, connection lost, timed out.
    public static let unreachable = Fallback(rawValue: 1)
    /// A response with 500, 502, 503 or 504, the errors of RFC 5861 §4.
    public static let serverError = Fallback(rawValue: 2)
    /// Any 5xx (RFC 9111 §4.3.3), or 429, which likewise says nothing about the resource.
    public static let anyRefusal = Fallback(rawValue: 4)

    /// Returns whether a response with this status is a failure that is covered.
    public func covers(status: Int) -> Bool {
        switch status {
        case 500, 502, 503, 504: contains(.serverError) || contains(.anyRefusal)
        case 429, 500...599: contains(.anyRefusal)
        default: false
        }
    }
}
