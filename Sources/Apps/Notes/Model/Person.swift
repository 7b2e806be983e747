import Foundation

/// A person of the people API.
struct Person: Sendable, Equatable {
    /// Number of the row: the key within one snapshot; another person in the next.
    let id: Int64
    var firstName: String?
    var lastName: String?
    var email: String?
    /// Free text.
    var gender: String?
    var avatarURL: String?

    /// Most characters of a text that are kept.
    static let longestText = 2048

    /// First and last name, if they are known.
    var fullName: String { [firstName, lastName].compactMap(\.self).joined(separator: " ") }
}

/// The people of one fetch.
struct PeopleSnapshot: Sendable, Equatable {
    /// Counts how often people were fetched.
    let number: Int
    let fetchedAt: Date
    let count: Int
}

/// A search for people: each of its words must be the beginning of a word of the name, in any case and with or without
/// diacritics.
struct NameSearch: Sendable, Equatable {
    /// The most words that are used; the others are ignored.
    static let mostWords = 16

    /// Its words, folded.
    let words: [String]

    /// Reads a text; nil if it is blank. Without a word, such as `!`, no name matches.
    init?(_ text: String) {
        guard !text.allSatisfy(\.isWhitespace) else { return nil }
        words = Array(Self.words(text).prefix(Self.mostWords))
    }

    /// The words in a normal form.
    var text: String { words.joined(separator: " ") }

    /// Returns whether a name has all words.
    func matches(_ name: String) -> Bool {
        let parts = Self.words(name)
        return !words.isEmpty && words.allSatisfy { word in parts.contains { $0.utf8.starts(with: word.utf8) } }
    }

    private static func words(_ text: String) -> [String] {
        PlaceName.folded(text).split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
}
