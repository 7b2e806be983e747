/// What a text is found by: the terms of its words, of parts of its words in scripts without spaces, and of its emoji.
///
/// They are made here rather than by the database, so that every database finds the same.
package struct SearchTerms: Sendable, Equatable {
    /// The terms, in no order. A term has no space, no quotation mark and no other ASCII character but letters and
    /// digits.
    package private(set) var terms: Set<String> = []
    /// What terms are too short for, a line each: passages of more than ``longestGram`` characters in scripts without
    /// spaces, and words of more than ``longestPrefix`` letters between marks.
    package private(set) var passages = ""

    /// The longest beginning of a word that is a term.
    package static let longestPrefix = 24
    /// The length of the longest parts that are terms: passages are indexed by their single characters, pairs and
    /// trigrams.
    package static let longestGram = 3

    /// Reads a text.
    package init(_ text: String) {
        for token in SearchToken.tokens(of: text.searchFolded) {
            switch token.kind {
            case .word: add(word: token)
            case .run: add(passage: token.text)
            case .pictographs:
                for emoji in EmojiSequence.sequences(in: token.text) { terms.formUnion(emoji.terms) }
            }
        }
    }

    private mutating func add(word token: SearchToken) {
        Self.addBeginnings(of: token.text, to: &terms)
        terms.insert(Self.whole(String(token.text)))
        add(longWord: String(token.text))
        guard !token.suffix.isEmpty else { return }
        let word = Self.encoded(String(token.text) + token.suffix)
        for length in 0..<token.suffix.unicodeScalars.count {
            terms.insert(Self.beginning(String(word.unicodeScalars.dropLast(length))))
        }
        terms.insert(Self.whole(word))
        add(longWord: word)
    }

    private mutating func add(passage: Substring) {
        Self.addGrams(of: passage, to: &terms)
        if passage.unicodeScalars.count > Self.longestGram { add(line: passage) }
    }

    private mutating func add(longWord word: String) {
        guard Self.isLong(word) else { return }
        add(line: Self.longWhole(word))
    }

    private mutating func add(line: some StringProtocol) {
        if !passages.isEmpty { passages += "\n" }
        passages += line
    }

    /// Whether a word has more letters than a term.
    static func isLong(_ word: String) -> Bool { word.unicodeScalars.count > longestPrefix }

    /// Returns what ``passages`` has for long words that begin with a text.
    static func longBeginning(_ word: String) -> String { "\u{E102}" + word }

    /// Returns what ``passages`` has for a whole long word.
    static func longWhole(_ word: String) -> String { longBeginning(word) + endMark }

    /// Ends whole words.
    private static let endMark = "\u{E100}"

    private static func addBeginnings(of word: Substring, to terms: inout Set<String>) {
        let scalars = word.unicodeScalars
        var end = scalars.startIndex
        for _ in 0..<longestPrefix where end < scalars.endIndex {
            scalars.formIndex(after: &end)
            terms.insert(String(word[..<end]))
        }
    }

    /// Returns what a name is found by if any part of it may be searched for: its parts of at most ``longestGram``
    /// characters.
    ///
    /// - Parameter folded: The name in the form in which it is compared (`Swift/String/searchFolded`).
    package static func parts(of folded: String) -> Set<String> {
        var terms: Set<String> = []
        addGrams(of: folded[...], to: &terms)
        return terms
    }

    /// Adds every part of a text of at most ``longestGram`` characters, spaces and punctuation included.
    static func addGrams(of text: Substring, to terms: inout Set<String>) {
        let scalars = text.unicodeScalars
        for start in scalars.indices {
            var end = start
            for _ in 0..<longestGram where end < scalars.endIndex {
                scalars.formIndex(after: &end)
                terms.insert(encoded(String(text[start..<end])))
            }
        }
    }

    /// Returns the term for words that begin with a text.
    static func beginning(_ word: String) -> String {
        String(String.UnicodeScalarView(word.unicodeScalars.prefix(longestPrefix)))
    }

    /// Returns the term for a whole word; of a longer one than ``longestPrefix`` that of its beginning.
    static func whole(_ word: String) -> String { isLong(word) ? beginning(word) : word + endMark }

    /// Returns a text with private characters in place of ASCII characters that are not letters or digits, which
    /// separate the terms of the index.
    static func encoded(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.isASCII && !$0.isASCIIAlphanumeric }) else { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    $0.isASCII && !$0.isASCIIAlphanumeric ? Unicode.Scalar(0xE000 + UInt16($0.value)) ?? $0 : $0
                }
            )
        )
    }
}
