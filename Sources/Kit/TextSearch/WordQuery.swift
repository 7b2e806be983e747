/// The text of a search: each of its words must occur, the last one may be the beginning of a word. Of words in scripts
/// without spaces, and of Korean, each may be any part of a text; an emoji is a word.
package struct WordQuery: Sendable, Equatable {
    /// The terms that a text must have (``SearchTerms``), without those that others imply.
    package let terms: [String]
    /// What must occur in its passages as well, because no term is that long.
    package let passages: [String]

    /// The most words that are used; the others are ignored.
    package static let mostWords = 16
    /// The most terms of passages: what they do not cover is compared in ``passages``.
    static let mostGrams = 24

    /// Reads a text.
    package init(_ text: String) {
        let tokens = SearchToken.tokens(of: text.searchFolded, limit: Self.mostWords)
        var (terms, passages): ([String], [String]) = ([], [])
        var grams = Self.mostGrams
        for (index, token) in tokens.enumerated() {
            switch token.kind {
            case .word:
                let word = SearchTerms.encoded(String(token.text) + token.suffix)
                let isLast = index == tokens.count - 1
                terms.append(isLast ? SearchTerms.beginning(word) : SearchTerms.whole(word))
                guard SearchTerms.isLong(word) else { continue }
                passages.append(isLast ? SearchTerms.longBeginning(word) : SearchTerms.longWhole(word))
            case .run:
                let found = Self.grams(of: token.text, limit: max(1, grams))
                grams -= found.count
                terms += found
                if token.text.unicodeScalars.count > SearchTerms.longestGram { passages.append(String(token.text)) }
            case .pictographs: terms += EmojiSequence.sequences(in: token.text).prefix(Self.mostWords).map(\.term)
            }
        }
        var seen: Set<String> = []
        self.terms = terms.filter { seen.insert($0).inserted }
        self.passages = passages
    }

    /// Whether there is nothing to search for.
    package var isEmpty: Bool { terms.isEmpty }

    /// The search in a form that is equal for equal searches.
    package var normalized: String { (terms + passages).joined(separator: " ") }

    /// Returns the longest terms that a passage must have: itself, or its trigrams.
    static func grams(of text: Substring, limit: Int) -> [String] {
        let scalars = Array(text.unicodeScalars)
        guard scalars.count > SearchTerms.longestGram else { return [SearchTerms.encoded(String(text))] }
        return (0...(scalars.count - SearchTerms.longestGram)).prefix(limit).map { start in
            let part = scalars[start..<start + SearchTerms.longestGram]
            return SearchTerms.encoded(String(String.UnicodeScalarView(part)))
        }
    }
}
