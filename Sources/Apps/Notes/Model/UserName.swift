import Foundation

/// The name of an account as it is shown, and its key.
///
/// Two names are one account if they are equal after normalisation form C and lower-casing, as in the profile
/// UsernameCaseMapped of RFC 8265 §3.3: `Zoë` typed with a combining diaeresis, or as `ZOË`, is the same account. It is
/// shown as it was registered.
struct UserName: Sendable, Equatable {
    /// What is wrong with a text as a name.
    enum Fault: Error, Equatable {
        /// Empty, or only spaces.
        case tooShort
        /// Over ``UserName/longest`` bytes, or with control characters.
        case invalid
    }

    /// Longest name in bytes of UTF-8.
    static let longest = 256

    /// The name as it is shown: in normalisation form C, without spaces around it.
    let shown: String
    /// The name as it is compared.
    let key: String

    init(_ text: String) throws(Fault) {
        shown = text.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        guard !shown.isEmpty else { throw .tooShort }
        let isClean = shown.unicodeScalars.allSatisfy {
            ![.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        guard shown.utf8.count <= Self.longest, isClean else { throw .invalid }
        key = shown.lowercased().precomposedStringWithCanonicalMapping
    }
}
