/// A set of ASCII characters.
public struct ASCIISet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ characters: StaticString) {
        characters.withUTF8Buffer { for byte in $0 { insert(byte) } }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }

    /// Returns the set with more characters.
    func adding(_ characters: StaticString) -> ASCIISet {
        var set = self
        characters.withUTF8Buffer { for byte in $0 { set.insert(byte) } }
        return set
    }

    /// Returns whether the set has this character.
    public func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low & (1 << UInt64(byte)) != 0
        case 64..<128: high & (1 << UInt64(byte - 64)) != 0
        default: false
        }
    }

    /// Returns whether a text has only characters of the set.
    public func containsAll(of text: String) -> Bool {
        var text = text
        return text.withUTF8 { $0.allSatisfy(contains) }
    }

    /// Letters and digits.
    public static let alphanumerics = ASCIISet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    /// `tchar`, the characters of a token. RFC 9110 §5.6.2.
    public static let token = alphanumerics.adding("!#$%&'*+-.^_`|~")
}
