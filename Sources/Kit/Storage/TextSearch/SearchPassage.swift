import Foundation

extension String {
    /// The text as words are compared (``searchFolded``), and Arabic as people type it: alef without hamza and madda,
    /// yeh for alef maksura, heh for teh marbuta.
    var wordFolded: String {
        let folded = searchFolded
        guard folded.unicodeScalars.contains(where: { SearchFolding.typedArabic[$0] != nil }) else { return folded }
        return String(String.UnicodeScalarView(folded.unicodeScalars.map { SearchFolding.typedArabic[$0] ?? $0 }))
    }

    /// The text with spaces around signs for several letters or digits, such as № and ㎞, so that these are words of
    /// their own; nil if it has none.
    var compatibilityFormsApart: String? {
        guard unicodeScalars.contains(where: \.isCompatibilitySign) else { return nil }
        return unicodeScalars.reduce(into: "") { text, scalar in
            text += scalar.isCompatibilitySign ? " \(scalar) " : String(scalar)
        }
    }
}

extension SearchFolding {
    fileprivate static let typedArabic: [Unicode.Scalar: Unicode.Scalar] = [
        "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ئ": "ي", "ؤ": "و", "ة": "ه",
    ]
}

extension Unicode.Scalar {
    /// Whether it is a symbol or number that its compatibility decomposition replaces by letters or digits.
    fileprivate var isCompatibilitySign: Bool {
        guard value >= 0xA0 else { return false }
        switch properties.generalCategory {
        case .otherSymbol, .otherNumber, .letterNumber:
            let parts = String(self).decomposedStringWithCompatibilityMapping.unicodeScalars
            return parts.first != self && parts.contains { $0.searchRole == .word || $0.searchRole == .unspaced }
        default: return false
        }
    }
}

/// A text in which phrases are looked for: its words in their order.
package struct SearchPhraseText: Sendable {
    /// The words, with a space around each: unchanged, and with compatibility signs apart.
    private let forms: [String]

    package init(_ text: String) {
        forms = [text.wordFolded, text.compatibilityFormsApart?.wordFolded].compactMap { folded in
            folded.map { " " + SearchToken.tokens(of: $0).map { $0.text + $0.suffix }.joined(separator: " ") + " " }
        }
    }

    package func has(_ phrase: SearchPhrase) -> Bool { forms.contains { $0.contains(phrase.text) } }
}

/// Words that must follow each other.
package struct SearchPhrase: Sendable, Equatable {
    /// The words, with a space before and after unless it may begin or end within one.
    package let text: String
    /// Whether it is one word, which the terms of a text tell as well.
    package let isWord: Bool

    /// Creates a phrase; nil if the text has no word.
    ///
    /// - Parameter isComplete: whether the last word is whole.
    package init?(_ text: String, isComplete: Bool = true) {
        let tokens = SearchToken.tokens(of: text.wordFolded, limit: WordQuery.mostWords)
        guard let first = tokens.first, let last = tokens.last else { return nil }
        // Other scripts and emoji are found in any place.
        let (begin, end) = (first.kind == .word ? " " : "", last.kind == .word && isComplete ? " " : "")
        isWord =
            tokens.count == 1 && (first.kind != .pictographs || EmojiSequence.sequences(in: first.text).count == 1)
        self.text = begin + tokens.map { $0.text + $0.suffix }.joined(separator: " ") + end
    }
}

/// The part of a text in which the words of a search were found.
package struct SearchPassage: Sendable, Equatable {
    package struct Part: Encodable, Sendable, Equatable {
        package let text: String
        /// Whether it is one of the words.
        package let hit: Bool
    }

    package let parts: [Part]

    /// Characters before the first hit, and of all.
    fileprivate static let (before, length) = (40, 160)
    /// Largest number of characters of a text that are examined.
    private static let longestText = 100_000

    /// Finds the first passage of a text; nil if it has none of the words.
    package init?(of text: String, words: SearchWords) {
        let folded = FoldedCharacters(text.prefix(Self.longestText))
        let hits = folded.ranges(of: words)
        guard let first = hits.first else { return nil }
        let characters = folded.characters
        var start = max(0, first.lowerBound - Self.before)
        // A word is not cut, unless it is long.
        if start > 0, let space = characters[start..<first.lowerBound].firstIndex(where: \.isWhitespace) {
            start = space + 1
        }
        var end = min(characters.count, start + Self.length)
        if end < characters.count,
            let space = characters[first.upperBound..<max(end, first.upperBound)].lastIndex(
                where: \.isWhitespace
            )
        {
            end = space
        }
        end = max(end, min(first.upperBound, start + Self.length))
        var parts: [Part] = []
        func add(_ range: Range<Int>, hit: Bool) {
            let text = String(characters[range].map { $0.isNewline ? " " : $0 })
            if !text.isEmpty { parts.append(Part(text: text, hit: hit)) }
        }
        var place = start
        if start > 0 { parts.append(Part(text: "…", hit: false)) }
        for hit in hits where hit.lowerBound >= place && hit.lowerBound < end {
            add(place..<hit.lowerBound, hit: false)
            place = min(hit.upperBound, end)
            add(hit.lowerBound..<place, hit: true)
        }
        add(place..<end, hit: false)
        if end < characters.count { parts.append(Part(text: "…", hit: false)) }
        self.parts = parts
    }
}

/// The words that are marked in a passage.
package struct SearchWords: Sendable, Equatable {
    /// A word, whether it is whole, and whether it may be any part of a text.
    fileprivate struct Word: Equatable {
        let text: [Unicode.Scalar]
        let kind: SearchToken.Kind
        let isWhole: Bool
    }

    fileprivate private(set) var words: [Word] = []

    package init() {}

    /// Adds the words of a text.
    ///
    /// - Parameter isComplete: whether the last one is whole.
    package mutating func add(_ text: String, isComplete: Bool) {
        let tokens = SearchToken.tokens(
            of: (text.compatibilityFormsApart ?? text).wordFolded,
            limit: WordQuery.mostWords
        )
        for (index, token) in tokens.enumerated() {
            let isWhole = isComplete || index < tokens.count - 1
            let text = Array((token.text + token.suffix).unicodeScalars)
            let word = Word(text: text, kind: token.kind, isWhole: isWhole)
            if words.count < WordQuery.mostWords, !words.contains(word) { words.append(word) }
        }
    }
}

/// The characters of a text, and the folded text that they make.
private struct FoldedCharacters {
    let characters: [Character]
    private var folded = ""
    /// The character that each scalar of the folded text is of.
    private var owners: [Int] = []

    init(_ text: Substring) {
        characters = Array(text)
        for (index, character) in characters.enumerated() {
            var form = String(character)
            form = form.compatibilityFormsApart ?? form
            form = form.wordFolded
            folded += form
            owners += form.unicodeScalars.map { _ in index }
        }
    }

    /// Returns the characters of all words, in order, none twice.
    func ranges(of words: SearchWords) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var (offset, last) = (0, folded.unicodeScalars.startIndex)
        for token in SearchToken.tokens(of: folded) {
            offset += folded.unicodeScalars.distance(from: last, to: token.text.startIndex)
            last = token.text.startIndex
            // Later words are after the end of the passage.
            if let first = ranges.first, owners[offset] > first.lowerBound + SearchPassage.length { break }
            for range in Self.ranges(of: words, in: token) {
                let characters = owners[offset + range.lowerBound]..<owners[offset + range.upperBound - 1] + 1
                guard characters.lowerBound >= ranges.last?.upperBound ?? 0 else { continue }
                ranges.append(characters)
            }
        }
        return ranges
    }

    /// Returns the scalars of a token that are words.
    private static func ranges(of words: SearchWords, in token: SearchToken) -> [Range<Int>] {
        let text = Array((token.text + token.suffix).unicodeScalars)
        let found = words.words.filter { $0.kind == token.kind }.flatMap { word in
            let wanted = word.text
            guard word.kind == .word else { return text.ranges(of: wanted).map { $0 } }
            let isFound =
                word.isWhole
                ? text == wanted || Array(token.text.unicodeScalars) == wanted : text.starts(with: wanted)
            return isFound ? [0..<wanted.count] : []
        }
        return found.sorted { ($0.lowerBound, -$0.upperBound) < ($1.lowerBound, -$1.upperBound) }
    }
}
