/// The text of a search for names: a name must have it anywhere, spaces and punctuation included.
package struct PartQuery: Sendable, Equatable {
    /// The text in the form in which it is compared (`Swift/String/partFolded`).
    package let text: String
    /// The terms that a name must have (``SearchTerms/parts(of:)``).
    package let terms: [String]

    /// Reads a text.
    package init(_ text: String) {
        self.text = text.partFolded
        terms = self.text.isEmpty ? [] : WordQuery.grams(of: self.text[...], limit: WordQuery.mostGrams)
    }

    /// Whether there is nothing to search for.
    package var isEmpty: Bool { terms.isEmpty }
}
