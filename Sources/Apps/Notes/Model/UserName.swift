import Database
import Foundation

/// The name of an account as it is shown, and its keys.
///
/// Two names are one account if they are equal after width mapping, full case folding and normalisation form C, as in
/// the profile UsernameCaseMapped of RFC 8265 §3.3: `Zoë` typed with a combining diaeresis, as `ZOË` or in fullwidth
/// letters, is the same account. It is shown as it was registered.
struct UserName: Sendable, Equatable {
    /// What is wrong with a text as a name.
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

    /// The name as it is shown: in normalisation form C, without spaces around it.
    let shown: String
    /// The name as it is compared.
    let key: String
    /// The name as it was compared before full case folding. Accounts that it keeps apart stay apart.
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

    /// Returns the key of a name as it is shown.
    static func key(of shown: String) -> String { shown.widthMapped.fullyCaseFolded }
}
