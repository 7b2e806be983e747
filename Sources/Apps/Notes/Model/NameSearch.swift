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
