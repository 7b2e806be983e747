/// The text of a search as an FTS5 expression: every word must occur, the last one may be the beginning of a word.
/// Nothing in the text is FTS5 syntax: words are quoted, and all other characters only separate words.
struct SearchQuery: Sendable, Equatable {
    /// Words of letters and digits.
    let words: [String]

    /// The most words that are used; the others are ignored.
    static let mostWords = 16

    init(_ text: String) {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        func endWord() {
            if !word.isEmpty { words.append(String(word)) }
            word = .init()
        }
        for character in text {
            if Self.isPictograph(character) {
                endWord()
                words += Self.pictographs(character)
                continue
            }
            for scalar in character.unicodeScalars {
                if Self.isOfWord(scalar) { word.append(scalar) } else { endWord() }
            }
        }
        endWord()
        // A mark by itself is no token of unicode61.
        let found = words.filter { $0.unicodeScalars.contains { Self.isBase($0) || Self.isPictograph($0) } }
        self.words = Array(found.prefix(Self.mostWords))
    }

    /// Whether there is no word.
    var isEmpty: Bool { words.isEmpty }

    /// Words of scripts without spaces between words, and emoji. unicode61 takes the text between two spaces for one
    /// word, and emoji for none, so that these are searched for anywhere in a text instead.
    var fragments: [String] { words.filter(Self.isFragment) }

    /// Returns the expression for notes of an account whose text or place contains all words but the fragments.
    ///
    /// - Parameter placesOnly: all words, and only in the name of the place.
    /// - Returns: nil if there are no such words.
    func expression(account: Int64, placesOnly: Bool = false) -> String? {
        let terms = words.indices.filter { index in
            placesOnly ? words[index].unicodeScalars.contains(where: Self.isBase) : !Self.isFragment(words[index])
        }.map {
            Self.term(words[$0], isOpen: $0 == words.count - 1)
        }
        guard !terms.isEmpty else { return nil }
        let columns = placesOnly ? "location_name" : "{body location_name}"
        return "account : \"\(account)\" AND \(columns) : (\(terms.joined(separator: " AND ")))"
    }

    /// Returns the term for a word in any of its spellings; with `isOpen`, as the beginning of a word.
    private static func term(_ word: String, isOpen: Bool = false) -> String {
        let phrases = spellings(of: word).map { "\"\($0)\"\(isOpen ? " *" : "")" }
        return phrases.count == 1 ? phrases[0] : "(\(phrases.joined(separator: " OR ")))"
    }

    /// The most letters е of a word for which each is tried as ё.
    private static let mostTried = 8

    /// Returns the spellings that the index may have of a word. unicode61 removes accents from Latin and Greek letters,
    /// but not from the Russian ё, for which most people write е; a word has nearly always only one.
    static func spellings(of word: String) -> [String] {
        let letters = Array(word.unicodeScalars)
        guard letters.contains(where: { "еёЕЁ".unicodeScalars.contains($0) }) else { return [word] }
        let plain = letters.map { $0 == "ё" || $0 == "Ё" ? "е" : $0 }
        let places = plain.indices.filter { plain[$0] == "е" || plain[$0] == "Е" }
        var spellings = [letters, plain]
        if places.count <= mostTried {
            for place in places {
                var other = plain
                other[place] = "ё"
                spellings.append(other)
            }
        }
        var seen = Set<[Unicode.Scalar]>()
        return spellings.filter { seen.insert($0).inserted }.map { letters in String(String.UnicodeScalarView(letters))
        }
    }

    private static func isFragment(_ word: String) -> Bool {
        word.unicodeScalars.contains { scalar in
            scalar.properties.isIdeographic || unspaced.contains { $0.contains(scalar.value) } || isPictograph(scalar)
        }
    }

    /// Whether a character is an emoji or another pictograph, which unicode61 ignores.
    private static func isPictograph(_ character: Character) -> Bool {
        character.unicodeScalars.first.map(isPictograph) ?? false
    }

    private static func isPictograph(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmoji && !scalar.isASCII && !isBase(scalar)
    }

    /// Returns the parts of an emoji between its variation selectors (UAX #29, UTS #51), which many texts leave out.
    private static func pictographs(_ character: Character) -> [String] {
        let parts = character.unicodeScalars.split { ["\u{FE0E}", "\u{FE0F}"].contains($0) }
        return parts.map { part in
            let joiner: Unicode.Scalar = "\u{200D}"
            let inner = part.drop { $0 == joiner }
            return String(String.UnicodeScalarView(inner.last == joiner ? inner.dropLast() : inner))
        }.filter { !$0.isEmpty }
    }

    /// Blocks of Thai and Lao, Myanmar, Khmer, Hiragana and Katakana.
    private static let unspaced: [ClosedRange<UInt32>] = [
        0xE00...0xEFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9F,
    ]

    private static func isBase(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            true
        default: false
        }
    }

    /// The characters that are part of words for unicode61: letters, numbers, and marks, which it removes.
    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: isBase(scalar)
        }
    }
}
