extension ASCIISet {
    /// Unreserved characters: a component with this set means the same anywhere in a URI. RFC 3986 §2.3.
    public static let unreserved = alphanumerics.adding("-._~")
    /// A name or value of a query in which commas, colons and slashes stay legible. RFC 3986 §3.4.
    public static let legibleQuery = unreserved.adding(",:/")
    /// A path that is percent-encoded already. RFC 3986 §3.3.
    public static let encodedPath = unreserved.adding("%/:@!$&'()*+,;=")
    /// Any character of a URI, encoded parts included. RFC 3986 §2.
    public static let uri = unreserved.adding("%:/?#[]@!$&'()*+,;=")
    /// `attr-char`, for extended parameter values. RFC 8187 §3.2.1.
    public static let attributeCharacters = alphanumerics.adding("!#$&+-.^_`|~")
}

/// Writes and reads percent-encoded text. RFC 3986 §2.1.
public enum PercentEncoding {
    /// Percent-encodes the UTF-8 bytes of a text.
    /// - Parameters:
    ///   - text: any text.
    ///   - allowed: the characters that stay as they are.
    public static func encode(_ text: String, allowed: ASCIISet) -> String {
        var text = text
        let encoded = text.withUTF8 { bytes -> String? in
            let others = bytes.count { !allowed.contains($0) }
            guard others > 0 else { return nil }
            return String(unsafeUninitializedCapacity: bytes.count + 2 * others) { encode(bytes, allowed, into: $0) }
        }
        return encoded ?? text
    }

    /// - Returns: How many bytes were written.
    private static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ allowed: ASCIISet,
        into target: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        var end = 0
        for byte in bytes {
            if allowed.contains(byte) {
                target[end] = byte
                end += 1
            } else {
                target[end] = UInt8(ascii: "%")
                target[end + 1] = digit(byte >> 4)
                target[end + 2] = digit(byte & 15)
                end += 3
            }
        }
        return end
    }

    /// Upper case, as RFC 3986 §2.1 recommends.
    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x41 - 10 + value
    }

    /// Decodes percent-encoded text.
    /// - Returns: the bytes; nil if a percent sign is not followed by two hexadecimal digits.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimalValue),
                let low = rest.popFirst().flatMap(hexadecimalValue)
            else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Returns a path in which unreserved characters are not percent-encoded, which is equivalent. RFC 3986 §6.2.2.2.
    public static func withoutNeedlessEncoding(_ path: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(hexadecimalValue),
                let low = rest.dropFirst().first.flatMap(hexadecimalValue),
                ASCIISet.unreserved.contains(high << 4 | low)
            {
                bytes.append(high << 4 | low)
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the value of a hexadecimal digit in either case; nil for other bytes.
    public static func hexadecimalValue(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}
