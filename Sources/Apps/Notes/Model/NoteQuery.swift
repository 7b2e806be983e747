import Foundation
import Storage

/// The text of a search in notes: words, `"phrases"` of words that follow each other, and both with a minus in front if
/// notes must not have them. The last word may be the beginning of one, because the user may still be typing it.
struct NoteQuery: Sendable, Equatable {
    /// A part of the text.
    private struct Piece {
        var text: Substring
        var isExcluded = false
        var isPhrase = false
        /// Whether the last word is whole: more follows, or a quotation mark ends it.
        var isComplete = true
    }

    /// The terms that a note must have.
    private(set) var terms: [String] = []
    /// The texts that its passages must have.
    private(set) var passages: [String] = []
    private(set) var phrases: [SearchPhrase] = []
    /// The terms that it must not have: all of each list.
    private(set) var excludedTerms: [[String]] = []
    private(set) var excludedPhrases: [SearchPhrase] = []
    /// The words that are marked in the passage of a hit.
    private(set) var words = SearchWords()

    init(_ text: String) {
        let pieces = Self.pieces(of: text)
        var plain: (text: String, isComplete: Bool) = ("", true)
        for piece in pieces {
            let text = String(piece.text)
            switch (piece.isExcluded, piece.isPhrase) {
            case (true, _): exclude(text)
            case (false, true):
                add(text, isComplete: piece.isComplete)
                if let phrase = SearchPhrase(text, isComplete: piece.isComplete), !phrase.isWord {
                    phrases.append(phrase)
                }
            case (false, false): plain = ("\(plain.text) \(text)", piece.isComplete)
            }
        }
        add(plain.text, isComplete: plain.isComplete)
        var seen: Set<String> = []
        terms = terms.filter { seen.insert($0).inserted }
    }

    /// Whether there is nothing to search for.
    var isEmpty: Bool { terms.isEmpty && !hasExclusions }
    /// Whether only the text of a note tells that it is a hit.
    var needsText: Bool { !phrases.isEmpty || !excludedPhrases.isEmpty }
    var hasExclusions: Bool { !excludedTerms.isEmpty || !excludedPhrases.isEmpty }

    /// The search in a form that is equal for equal searches.
    var normalized: String {
        let excluded = excludedTerms.map { "-" + $0.joined(separator: "+") } + excludedPhrases.map { "-\"\($0.text)\"" }
        return (terms + passages + phrases.map { "\"\($0.text)\"" } + excluded).joined(separator: " ")
    }

    /// Whether a note with these texts has the phrases, and none that are excluded.
    func isFound(in texts: [String]) -> Bool {
        let texts = texts.map(SearchPhraseText.init)
        return phrases.allSatisfy { phrase in texts.contains { $0.has(phrase) } }
            && !excludedPhrases.contains { phrase in texts.contains { $0.has(phrase) } }
    }

    private mutating func add(_ text: String, isComplete: Bool) {
        let query = WordQuery(text, isComplete: isComplete)
        terms += query.terms
        passages += query.passages
        words.add(text, isComplete: isComplete)
    }

    private mutating func exclude(_ text: String) {
        let query = WordQuery(text, isComplete: true)
        if query.terms.count == 1, query.passages.isEmpty {
            excludedTerms.append(query.terms)
        } else if let phrase = SearchPhrase(text) {
            excludedPhrases.append(phrase)
        }
    }

    private static let quotationMarks: Set<Character> = ["\"", "“", "”", "„", "«", "»"]

    private static func pieces(of text: String) -> [Piece] {
        var (pieces, rest): ([Piece], Substring) = ([], text[...])
        while pieces.count < WordQuery.mostWords {
            rest = rest.drop(while: \.isWhitespace)
            guard let first = rest.first else { break }
            var piece = Piece(text: "")
            if first == "-", let next = rest.dropFirst().first, !next.isWhitespace, next != "-" {
                piece.isExcluded = true
                rest = rest.dropFirst()
            }
            if let mark = rest.first, quotationMarks.contains(mark) {
                piece.isPhrase = true
                piece.text = rest.dropFirst().prefix { !quotationMarks.contains($0) }
                rest = rest[piece.text.endIndex...]
                piece.isComplete = !rest.isEmpty
                rest = rest.dropFirst()
            } else {
                piece.text = rest.prefix { !$0.isWhitespace && !quotationMarks.contains($0) }
                rest = rest[piece.text.endIndex...]
                piece.isComplete = rest.contains { !$0.isWhitespace }
            }
            pieces.append(piece)
        }
        return pieces
    }
}
