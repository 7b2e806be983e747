import Database

/// A search of documents by name: every word must occur in the name, in any case and width.
struct DocumentSearch: Sendable, Equatable {
    /// Words in folded case, at least one.
    private let words: [String]

    /// Reads the text of a search; nil if it has no word.
    init?(_ text: String?) {
        words = Self.folded(text ?? "").split(whereSeparator: \.isWhitespace).map(String.init)
        if words.isEmpty { return nil }
    }

    /// Whether a name has all words.
    func matches(_ name: String) -> Bool {
        let name = Self.folded(name)
        return words.allSatisfy { name.contains($0) }
    }

    private static func folded(_ text: String) -> String { text.widthMapped.fullyCaseFolded }
}
