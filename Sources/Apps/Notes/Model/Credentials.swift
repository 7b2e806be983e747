import Crypto
import CryptoExtras
import Foundation
import Storage

/// The name of an account in its shown form, with its keys.
///
/// Two names are one account if they are equal after width mapping, full case folding and normalisation form C, as in
/// the profile UsernameCaseMapped of RFC 8265 §3.3. `Zoë` typed with a combining diaeresis, as `ZOË` or in fullwidth
/// letters, is the same account. Screens show the registered spelling.
struct UserName: Sendable, Equatable {
    /// The reason why a text is no name.
    enum Fault: Error, Equatable {
        /// Empty, or only spaces.
        case tooShort
        /// Over ``UserName/longest`` bytes, or with control characters.
        case invalid
        /// With characters that are not seen, such as a zero-width space. Only ``UserName/registering(_:)`` refuses it.
        case invisible
    }

    /// Longest name in bytes of UTF-8.
    static let longest = 256

    /// The shown form: in normalisation form C, without spaces around it.
    let shown: String
    /// The form by which names are compared.
    let key: String
    /// The form by which names were compared before full case folding. Accounts that it keeps apart stay apart.
    let spelling: String

    /// Reads the name of a login.
    init(_ text: String) throws(Fault) {
        shown = Self.trimmed(text).precomposedStringWithCanonicalMapping
        guard !shown.isEmpty else { throw .tooShort }
        let isClean = shown.unicodeScalars.allSatisfy {
            ![.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        guard shown.utf8.count <= Self.longest, isClean else { throw .invalid }
        key = Self.key(of: shown)
        spelling = shown.lowercased().precomposedStringWithCanonicalMapping
    }

    /// Reads the name of a new account.
    static func registering(_ text: String) throws(Fault) -> UserName {
        let name = try UserName(text)
        let isVisible = name.shown.unicodeScalars.allSatisfy {
            !$0.properties.isDefaultIgnorableCodePoint && !$0.properties.isNoncharacterCodePoint
                && ![.format, .privateUse, .surrogate, .unassigned].contains($0.properties.generalCategory)
        }
        guard isVisible, !name.key.allSatisfy(\.isWhitespace) else { throw .invisible }
        return name
    }

    /// Returns a text without white space around it. Foundation's set of it has the zero-width space, which is none.
    private static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    static func key(of shown: String) -> String { shown.widthMapped.fullyCaseFolded }
}

/// A password in the form that is hashed: normalisation form C, every kind of space as U+0020 (profile OpaqueString of
/// RFC 8265 §4.2). It is not trimmed and case-sensitive.
struct Password: Sendable, Equatable {
    /// The reason why a text is no password.
    enum Fault: Error, Equatable {
        /// Empty.
        case tooShort
        /// Over ``Password/longest`` bytes.
        case tooLong
    }

    /// Longest password in bytes of UTF-8.
    static let longest = 1_024

    /// The bytes that are hashed.
    let bytes: [UInt8]

    init(_ text: String) throws(Fault) {
        guard !text.isEmpty else { throw .tooShort }
        guard text.utf8.count <= Self.longest else { throw .tooLong }
        let scalars = text.unicodeScalars.map { $0.properties.generalCategory == .spaceSeparator ? " " : $0 }
        bytes = Array(String(String.UnicodeScalarView(scalars)).precomposedStringWithCanonicalMapping.utf8)
    }
}

/// A stored password: its scrypt hash (RFC 7914) with a salt of its own, and the parameters of the hash.
struct PasswordHash: Sendable, Equatable {
    struct Cost: Sendable, Equatable {
        /// N of RFC 7914, a power of two: proportional to time and memory.
        var rounds: Int
        /// r: 128 · r · N bytes of memory.
        var blockSize: Int
        /// p: independent runs.
        var parallelism: Int

        /// N = 2^`logarithm`, r = 8, p = 3. With N = 2^15, 32 MiB at a time, that is one of the choices of OWASP's
        /// Password Storage Cheat Sheet.
        static func scrypt(logarithm: Int) -> Cost { Cost(rounds: 1 << logarithm, blockSize: 8, parallelism: 3) }
    }

    /// 16 random bytes.
    let salt: Data
    let cost: Cost
    /// 32 bytes.
    let digest: Data
}

extension PasswordHash {
    /// Hashes a password, which takes a good part of a second and the memory of `cost`.
    ///
    /// - Throws: an error of the KDF.
    init(of password: Password, cost: Cost, salt: Data = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) })
        throws
    {
        self.init(salt: salt, cost: cost, digest: try Self.derive(password, salt, cost))
    }

    /// Returns whether a password matches; takes as long as hashing it in both cases.
    ///
    /// - Throws: an error of the KDF.
    func matches(_ password: Password) throws -> Bool {
        let candidate = try Self.derive(password, salt, cost)
        // Every byte is compared, so that the time does not depend on where they differ.
        return candidate.count == digest.count && zip(candidate, digest).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func derive(_ password: Password, _ salt: Data, _ cost: Cost) throws -> Data {
        try KDF.Scrypt.deriveKey(
            from: password.bytes,
            salt: salt,
            outputByteCount: 32,
            rounds: cost.rounds,
            blockSize: cost.blockSize,
            parallelism: cost.parallelism
        ).withUnsafeBytes { Data($0) }
    }
}
