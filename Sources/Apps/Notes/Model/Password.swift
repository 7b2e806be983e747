import Foundation

/// A password as it is hashed: in normalisation form C, every kind of space as U+0020 (profile OpaqueString of RFC
/// 8265 §4.2). It is not trimmed and case-sensitive.
struct Password: Sendable, Equatable {
    /// What is wrong with a text as a password.
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
