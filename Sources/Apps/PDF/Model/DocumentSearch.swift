import TextSearch

/// A search of documents by name: every word must occur in the name, in any case and width, with accents or without.
struct DocumentSearch: Sendable, Equatable {
    /// Words in folded case, at least one.
    private let words: [String]

    /// Reads the text of a search; nil if it has no word.
    init?(_ text: String?) {
        words = (text ?? "").searchFolded.split(whereSeparator: \.isWhitespace).map(String.init)
        if words.isEmpty { return nil }
    }

    /// The words in a normal form.
    var text: String { words.joined(separator: " ") }

    /// Whether a name has all words, each anywhere: also a part of what is shown as one character, such as a Thai
    /// consonant without its vowel sign.
    func matches(_ name: String) -> Bool {
        let name = name.searchFolded.utf8
        return words.allSatisfy { name.contains($0.utf8) }
    }
}
