import Crypto
package import Foundation

/// A code that a device is paired with: eight characters of Crockford's base 32, in which none look alike.
package struct PairingCode: Sendable, Equatable {
    /// Seconds in which a code may be used.
    package static let lifetime: TimeInterval = 600
    static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    static let length = 8

    /// The characters without the hyphen, upper case.
    private let characters: [UInt8]

    /// Returns a code of 40 random bits.
    package static func make() -> PairingCode {
        let bytes = SymmetricKey(size: SymmetricKeySize(bitCount: 8 * length)).withUnsafeBytes { Array($0) }
        return PairingCode(characters: bytes.map { alphabet[Int($0 & 31)] })
    }

    private init(characters: [UInt8]) { self.characters = characters }

    /// Reads what a user has typed: in any case, with or without hyphens and spaces, O for 0, I and L for 1; nil if it
    /// cannot be a code.
    package init?(_ typed: String) {
        guard typed.utf8.count <= 4 * Self.length else { return nil }
        let separators = [UInt8(ascii: "-"), UInt8(ascii: " ")]
        let letters = typed.uppercased().utf8.filter { !separators.contains($0) }.map(Self.read)
        guard letters.count == Self.length, letters.allSatisfy(Self.alphabet.contains) else { return nil }
        characters = letters
    }

    private static func read(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "O"): UInt8(ascii: "0")
        case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
        default: letter
        }
    }

    /// The code as it is shown: two groups of four.
    package var text: String {
        String(decoding: characters.prefix(4) + [UInt8(ascii: "-")] + characters.dropFirst(4), as: UTF8.self)
    }

    /// The form in which it is kept.
    package var hash: Data { Data(SHA256.hash(data: Data("larder pairing code ".utf8) + characters)) }
}
