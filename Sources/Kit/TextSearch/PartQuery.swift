/// The text of a search for names: a name must have it anywhere, spaces and punctuation included.
public struct PartQuery: Sendable, Equatable {
    /// The text in the form in which it is compared (`Swift/String/partFolded`).
    public let text: String
    /// The terms that a name must have (``SearchTerms/parts(of:)``).
    public let terms: [String]

    /// Reads a text.
    public init(_ text: String) {
        self.text = text.partFolded
        terms = self.text.isEmpty ? [] : WordQuery.grams(of: self.text[...], limit: WordQuery.mostGrams)
    }

    /// Whether there is nothing to search for.
    public var isEmpty: Bool { terms.isEmpty }
}
