import Foundation

/// A way in which a search finds rows that do not have the words of its text.
package enum SearchWay: String, Sendable, CaseIterable, Encodable {
    /// Another form of the word (лампу, лампа).
    case stem
    /// One typing error.
    case typo
    /// The other alphabet (krossovki, кроссовки).
    case transliteration
    /// The keys of another keyboard layout (ghbdtn, привет).
    case layout
}

/// Another search for the same text: words that are stored, in place of those that were typed.
package struct SearchVariant: Sendable, Equatable {
    /// For each word of the text its alternatives. A row must have all words of one of them.
    package let words: [[[String]]]
    /// The ways by which they were found; empty if all words begin stored words.
    package let used: [SearchWay]
    /// The words that are searched for, of each the best alternative.
    package let text: String

    static let mostAlternatives = 32

    init(_ alternatives: [[Alternative]], also used: [SearchWay] = []) {
        words = alternatives.map { $0.prefix(Self.mostAlternatives).map(\.words) }
        let best = alternatives.compactMap(\.first)
        // If all words are stored, others must have been searched for because no row has all of them.
        let ways = Set(best.flatMap(\.ways) + used)
        let found = ways.isEmpty ? Set(alternatives.joined().flatMap(\.ways)) : ways
        self.used = SearchWay.allCases.filter(found.contains)
        var last: [String] = []
        // Two words that are written as one are the same alternative of both.
        text = best.filter { alternative in
            defer { last = alternative.words }
            return alternative.words != last
        }
        .flatMap(\.words).joined(separator: " ")
    }

    /// Whether a folded text has the words.
    package func matches(_ folded: String) -> Bool {
        words.allSatisfy { $0.contains { $0.allSatisfy { folded.contains($0) } } }
    }

    /// An SQL condition: whether a column with folded text has the words. Its argument is `:variant` (``json``).
    package static func condition(on column: String) -> String {
        """
        NOT EXISTS (
            SELECT 1 FROM json_each(:variant) AS word WHERE NOT EXISTS (
                SELECT 1 FROM json_each(word.value) AS alternative WHERE NOT EXISTS (
                    SELECT 1 FROM json_each(alternative.value) AS part WHERE instr(\(column), part.value) = 0
                )
            )
        )
        """
    }

    /// The words as an argument of ``condition(on:)``.
    package var json: String { (try? JSONEncoder().encode(words)).map { String(decoding: $0, as: UTF8.self) } ?? "[]" }
}

/// Stored words in place of one that was typed.
struct Alternative: Equatable {
    /// One, or two that were typed without a space.
    var words: [String]
    var ways: [SearchWay] = []
    /// The number of rows that have it.
    var rows = 0
    /// Zero for the word as it was typed.
    var cost = 0
}

/// The words that rows have. The lengths are numbers of letters.
package struct StoredWords {
    package typealias Lookup = (_ part: String, _ lengths: ClosedRange<Int>) throws -> [(word: String, rows: Int)]

    /// Returns the number of rows that have a word; nil for none.
    let rows: (_ word: String) throws -> Int?
    let beginning: Lookup
    let ending: Lookup

    /// The longest words that are stored, in letters.
    package static let longest = 24

    /// Returns the words of a folded text.
    ///
    /// - Parameter limit: The most words; nil for all.
    package static func words(of folded: String, limit: Int? = nil) -> Set<String> {
        Set(
            SearchToken.tokens(of: folded, limit: limit).lazy.filter { $0.kind == .word }.map { String($0.text) }
                .filter { $0.unicodeScalars.count <= longest }
        )
    }

    /// Whether a word is a number. Numbers are not stored, and found only exactly as typed.
    static func isNumber(_ word: String) -> Bool { word.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}

extension StoredWords {
    /// Creates the words of texts that are in memory.
    ///
    /// - Parameter texts: Folded texts.
    package init(of texts: some Sequence<String>) {
        var counts: [String: Int] = [:]
        for text in texts {
            for word in Self.words(of: text) where !Self.isNumber(word) { counts[word, default: 0] += 1 }
        }
        func lookup(_ form: @escaping (String) -> String) -> Lookup {
            let sorted = counts.map { (key: form($0.key), word: $0.key, rows: $0.value) }.sorted { $0.key < $1.key }
            return { part, lengths in
                let key = form(part)
                var (low, high) = (0, sorted.count)
                while low < high {
                    let middle = (low + high) / 2
                    if sorted[middle].key < key { low = middle + 1 } else { high = middle }
                }
                return sorted[low...].prefix { $0.key.hasPrefix(key) }
                    .filter { lengths.contains($0.word.unicodeScalars.count) }.map { ($0.word, $0.rows) }
            }
        }
        self.init(rows: { counts[$0] }, beginning: lookup(\.self), ending: lookup(\.scalarsReversed))
    }
}

extension String {
    /// The text from its end to its beginning, by scalars.
    var scalarsReversed: String { String(String.UnicodeScalarView(unicodeScalars.reversed())) }
}
