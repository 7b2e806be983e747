import TextSearch

/// A search of documents by name: every word must occur in the name, in any case and width, with accents or without.
struct DocumentSearch: Sendable, Equatable {
    /// Words in the form in which they are compared, at least one and at most ``WordQuery/mostWords``.
    let words: [String]
    /// The terms that a name must have (``SearchTerms/parts(of:)``).
    let terms: [String]

    /// Reads the text of a search; nil if it has no word.
    init?(_ text: String?) {
        let found = (text ?? "").partFolded.split(whereSeparator: \.isWhitespace)
        words = found.prefix(WordQuery.mostWords).map(String.init)
        if words.isEmpty { return nil }
        terms = words.map(PartQuery.init).flatMap(\.terms)
    }

    /// The words in a normal form.
    var text: String { words.joined(separator: " ") }
}
