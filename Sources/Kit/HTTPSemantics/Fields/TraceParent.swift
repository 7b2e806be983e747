/// A value of `traceparent` (W3C Trace Context §3.2).
public struct TraceParent: Sendable, Equatable {
    /// Identity of the trace, 32 hexadecimal digits.
    public let traceID: String
    /// Two hexadecimal digits.
    public let flags: String

    /// Reads a value; nil if it is malformed, in which case it is to be ignored (§3.2.2.5).
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        // A later version may have more parts (§3.2.4), version 00 has four.
        guard parts.count == 4 || (parts.count > 4 && parts[0] != "00"), parts[0] != "ff",
            zip(parts, [2, 32, 16, 2]).allSatisfy({ $0.utf8.count == $1 && $0.utf8.allSatisfy(Self.isDigit) }),
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        traceID = String(parts[1])
        flags = String(parts[3])
    }

    /// Hexadecimal, lower case.
    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
