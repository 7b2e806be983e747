import CStemmer

/// The terms by which a text is found: those of its words, of parts of its words in scripts without spaces, and of its
/// emoji.
///
/// They are made here rather than by the database, so that every database finds the same.
package struct SearchTerms: Sendable, Equatable {
    /// The terms, in no order. A term has no space, no quotation mark and no other ASCII character but letters and
    /// digits.
    package private(set) var terms: Set<String> = []
    /// Texts that are too long for terms, a line each: passages of more than `longestGram` characters in scripts
    /// without spaces, and words of more than ``longestPrefix`` letters between marks.
    package private(set) var passages = ""

    /// The longest beginning of a word that is a term.
    package static let longestPrefix = 24
    /// The length of the longest parts that are terms: passages are indexed by their single characters, pairs and
    /// trigrams.
    static let longestGram = 3

    package init(_ text: String) {
        add(text.wordFolded)
        if let apart = text.compatibilityFormsApart { add(apart.wordFolded) }
    }

    private mutating func add(_ folded: String) {
        for token in SearchToken.tokens(of: folded) {
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

    /// Returns the line of ``passages`` for long words that begin with a text.
    static func longBeginning(_ word: String) -> String { "\u{E102}" + word }

    /// Returns the line of ``passages`` for a whole long word.
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

    /// Returns the terms of a name if any part of it may be searched for: its parts of at most `longestGram`
    /// characters.
    ///
    /// - Parameter folded: The name in the form in which it is compared (`Swift/String/searchFolded`).
    package static func parts(of folded: String) -> Set<String> {
        var terms: Set<String> = []
        addGrams(of: folded[...], to: &terms)
        return terms
    }

    /// Adds every part of a text of at most `longestGram` characters, spaces and punctuation included.
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

/// A part of a folded text that is indexed and searched as one.
struct SearchToken: Equatable {
    enum Kind { case word, run, pictographs }

    let kind: Kind
    let text: Substring
    /// For a word, the plus and number signs directly after it: `c++`, `f#`.
    var suffix: Substring = ""

    /// The maximum number of significant signs after a word.
    private static let longestSuffix = 3

    /// Returns the tokens of a folded text (``Swift/String/searchFolded``) in order.
    ///
    /// - Parameter limit: The most tokens; nil for all.
    static func tokens(of folded: String, limit: Int? = nil) -> [SearchToken] {
        let scalars = folded.unicodeScalars
        var tokens: [SearchToken] = []
        var index = scalars.startIndex
        while index < scalars.endIndex, tokens.count < limit ?? .max {
            guard let kind = kind(beginningWith: scalars[index].searchRole) else {
                scalars.formIndex(after: &index)
                continue
            }
            let end = scalars[index...].firstIndex { !kind.includes($0.searchRole) } ?? scalars.endIndex
            var token = SearchToken(kind: kind, text: folded[index..<end])
            index = end
            if kind == .word {
                let signs = scalars[end...].prefix(longestSuffix).prefix { $0 == "+" || $0 == "#" }
                token.suffix = folded[signs.startIndex..<signs.endIndex]
                index = signs.endIndex
            }
            tokens.append(token)
        }
        return tokens
    }

    /// Returns the kind of a token that begins with a scalar; nil if none does.
    private static func kind(beginningWith role: Unicode.Scalar.SearchRole) -> Kind? {
        switch role {
        case .word: .word
        case .unspaced: .run
        case .pictograph: .pictographs
        case .mark, .separator: nil
        }
    }
}

extension SearchToken.Kind {
    fileprivate func includes(_ role: Unicode.Scalar.SearchRole) -> Bool {
        switch (self, role) {
        case (.word, .word), (.word, .mark), (.run, .unspaced), (.pictographs, .pictograph): true
        default: false
        }
    }
}

/// An emoji: one pictograph, or several that are joined (UTS #51, ED-16).
struct EmojiSequence: Equatable {
    /// Its pictographs, each with its skin tone or tags; a flag is one.
    let elements: [String]

    /// The most joined pictographs of an emoji that count.
    private static let mostElements = 8

    /// Returns the emoji of a token.
    static func sequences(in text: Substring) -> [EmojiSequence] {
        var sequences: [EmojiSequence] = []
        var elements: [String] = []
        var (isJoined, isHalfFlag) = (false, false)
        for scalar in text.unicodeScalars {
            let isModifier = scalar.isEmojiTag || scalar.isSkinTone && !isJoined
            if scalar == "\u{200D}" {
                isJoined = true
                continue
            }
            if let last = elements.last, isModifier || isHalfFlag && scalar.isRegionalIndicator {
                elements[elements.count - 1] = last + String(scalar)
                isHalfFlag = false
                continue
            }
            if !isJoined, !elements.isEmpty {
                sequences.append(EmojiSequence(elements: elements))
                elements = []
            }
            if elements.count < mostElements { elements.append(String(scalar)) }
            (isJoined, isHalfFlag) = (false, scalar.isRegionalIndicator)
        }
        return elements.isEmpty ? sequences : sequences + [EmojiSequence(elements: elements)]
    }

    /// The term that finds it.
    var term: String { elements.joined(separator: "\u{200D}") }

    /// The terms under which it is found: itself, its parts, and all of them without skin tones.
    var terms: Set<String> {
        var terms: Set<String> = []
        for elements in [elements, elements.map(Self.withoutTone)] {
            for start in elements.indices {
                for end in start..<elements.count {
                    terms.insert(elements[start...end].joined(separator: "\u{200D}"))
                }
            }
        }
        return terms
    }

    private static func withoutTone(_ element: String) -> String {
        let plain = String(String.UnicodeScalarView(element.unicodeScalars.filter { !$0.isSkinTone }))
        return plain.isEmpty ? element : plain
    }
}

/// The stems of Russian and English words, by Snowball's algorithms (libstemmer).
///
/// It is generated code that reads one word of bounded length and keeps nothing, so it runs in the server.
final class Stemmer {
    private let russian = sb_stemmer_new("russian", "UTF_8")
    private let english = sb_stemmer_new("english", "UTF_8")

    deinit {
        sb_stemmer_delete(russian)
        sb_stemmer_delete(english)
    }

    /// Returns the stem of a folded word; the word itself in other scripts, and if it has a digit.
    func stem(_ word: String) -> String {
        guard let script = WordScript(word), let stemmer = script == .cyrillic ? russian : english else { return word }
        let bytes = Array(word.utf8)
        guard let stem = sb_stemmer_stem(stemmer, bytes, Int32(bytes.count)) else { return word }
        return String(
            decoding: UnsafeBufferPointer(start: stem, count: Int(sb_stemmer_length(stemmer))),
            as: UTF8.self
        )
    }
}

/// The alphabet of a folded word.
enum WordScript {
    case latin, cyrillic

    /// Nil if a letter is of neither, or of the other one.
    init?(_ word: String) {
        guard let first = word.unicodeScalars.first else { return nil }
        self = Self.isCyrillic(first) ? .cyrillic : .latin
        let includes = self == .cyrillic ? Self.isCyrillic : Self.isLatin
        guard word.unicodeScalars.allSatisfy(includes) else { return nil }
    }

    private static func isLatin(_ scalar: Unicode.Scalar) -> Bool { (0x61...0x7A).contains(scalar.value) }
    private static func isCyrillic(_ scalar: Unicode.Scalar) -> Bool { (0x430...0x45F).contains(scalar.value) }
}
