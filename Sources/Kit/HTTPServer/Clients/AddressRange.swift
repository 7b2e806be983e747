/// A range of IP addresses in CIDR notation, such as `10.0.0.0/8` (RFC 4632 §3.1); an address alone is a range of one.
public struct AddressRange: Sendable, Equatable {
    private let first: IPAddress
    private let prefixLength: Int

    /// Reads a range; nil if the text is none.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = IPAddress(parts[0]) else { return nil }
        let bits = first.bytes.count * 8
        guard parts.count > 1 else {
            (self.first, prefixLength) = (first, bits)
            return
        }
        guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int(parts[1]), length <= bits
        else { return nil }
        (self.first, prefixLength) = (first, length)
    }

    /// Whether an address is in the range.
    public func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        let whole = prefixLength / 8
        guard address.bytes[..<whole] == first.bytes[..<whole] else { return false }
        let rest = prefixLength % 8
        guard rest > 0 else { return true }
        let mask = UInt8(0xFF) << UInt8(8 - rest)
        return address.bytes[whole] & mask == first.bytes[whole] & mask
    }
}
