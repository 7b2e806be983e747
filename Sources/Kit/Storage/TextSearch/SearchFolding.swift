import Foundation

extension String {
    /// The text as searches compare it, whatever its case, width and diacritics.
    ///
    /// Compatibility forms are replaced (NFKC: fullwidth letters, ligatures, halfwidth Katakana, single jamo), letters
    /// are in full case folding (`Straße` is `strasse`, both small sigmas are one) and composed. Latin and Greek
    /// letters lose their diacritics and strokes, and ё is е. Marks that readers supply, such as the vowel points of
    /// Arabic and Hebrew, are left out, as are characters without a shape of their own.
    package var searchFolded: String {
        if utf8.allSatisfy({ $0 < 0x80 }) {
            return String(decoding: utf8.lazy.map(SearchFolding.lowered), as: UTF8.self)
        }
        return SearchFolding.plain(SearchFolding.caseFolded(precomposedStringWithCompatibilityMapping))
    }

    /// The form in which a text is searched for any part of it: ``searchFolded``, with each flag as one character. So
    /// neither half of a flag is a part, nor the halves of two neighbours.
    package var partFolded: String { SearchFolding.joiningFlags(searchFolded) }
}

/// The steps of ``Swift/String/searchFolded``.
enum SearchFolding {
    /// Returns a text with a private character in place of each flag.
    static func joiningFlags(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isRegionalIndicator) else { return text }
        var joined = String.UnicodeScalarView()
        var half: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            guard let first = half else {
                if scalar.isRegionalIndicator { half = scalar } else { joined.append(scalar) }
                continue
            }
            half = nil
            joined.append(flag(first, scalar) ?? first)
            guard !scalar.isRegionalIndicator else { continue }
            joined.append(scalar)
        }
        if let half { joined.append(half) }
        return String(joined)
    }

    /// Returns the private character of a flag; nil if the second scalar is not the half of one.
    private static func flag(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        guard second.isRegionalIndicator else { return nil }
        return Unicode.Scalar(0xF0000 + (first.value - 0x1F1E6) * 26 + second.value - 0x1F1E6)
    }

    static func lowered(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }

    /// Returns the full case folding of a text, composed.
    static func caseFolded(_ text: String) -> String {
        var folded = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                folded.append(Unicode.Scalar(lowered(UInt8(scalar.value))))
            } else if scalar.properties.changesWhenCaseFolded || scalar.properties.changesWhenLowercased {
                folded.append(contentsOf: String.fullyFolded(scalar).unicodeScalars)
            } else {
                folded.append(scalar)
            }
        }
        return String(folded).precomposedStringWithCanonicalMapping
    }

    /// Returns a text without diacritics and without characters that have no shape.
    static func plain(_ text: String) -> String {
        var plain = String.UnicodeScalarView()
        var last: Unicode.Scalar = " "
        for scalar in text.unicodeScalars where !isDropped(scalar, after: last) {
            last = scalar
            let base = base(of: scalar)
            if let letters = plainLetter(base) {
                plain.append(contentsOf: letters.unicodeScalars)
            } else {
                plain.append(base)
            }
        }
        return String(plain)
    }

    /// Returns the plain letter for one with a stroke or for a ligature, which Unicode does not decompose, and for ё,
    /// which most people write as е; nil for others.
    private static func plainLetter(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "ł": "l"
        case "ø": "o"
        case "đ", "ð": "d"
        case "æ": "ae"
        case "œ": "oe"
        case "ı": "i"
        case "þ": "th"
        case "ə": "a"
        case "ё": "е"
        default: nil
        }
    }

    /// Latin and Greek letters with diacritics, and their bases.
    private static let bases: [Unicode.Scalar: Unicode.Scalar] = (UInt32(0xC0)...0x1FFF).reduce(into: [:]) {
        guard let letter = Unicode.Scalar($1), isLatinOrGreek(letter) else { return }
        let parts = String(letter).decomposedStringWithCanonicalMapping.unicodeScalars
        if parts.count > 1, let base = parts.first { $0[letter] = base }
    }

    private static func isLatinOrGreek(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xC0...0x24F, 0x370...0x3FF, 0x1E00...0x1FFF: true
        default: false
        }
    }

    private static func base(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        isLatinOrGreek(scalar) ? bases[scalar] ?? scalar : scalar
    }

    /// Whether a scalar is left out. Joiners of the parts of an emoji stay.
    private static func isDropped(_ scalar: Unicode.Scalar, after last: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0xAD, 0xC0...0x2FF, 0x370...0x482, 0x3040...0x3098, 0x309B...0x3163, 0x3400...0xD7FF: false
        case 0x200D: !last.isPictograph
        case 0xE0020...0xE007F: !(last == "\u{1F3F4}" || (0xE0020...0xE007F).contains(last.value))
        default: scalar.properties.isDefaultIgnorableCodePoint || isMark(scalar.value)
        }
    }

    /// Whether it is a combining diacritical mark, a point of Hebrew or Arabic, or the Arabic tatweel.
    private static func isMark(_ value: UInt32) -> Bool {
        switch value {
        case 0x300...0x36F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
        case 0x591...0x5BD, 0x5BF, 0x5C1...0x5C2, 0x5C4...0x5C5, 0x5C7: true
        case 0x610...0x61A, 0x640, 0x64B...0x65F, 0x670, 0x6D6...0x6DC, 0x6DF...0x6E4, 0x6E7...0x6E8, 0x6EA...0x6ED:
            true
        default: false
        }
    }
}

extension Unicode.Scalar {
    enum SearchRole {
        /// A letter or digit of a script with spaces between words.
        case word
        /// A mark that belongs to the letter before it.
        case mark
        /// A letter, digit or mark of a script without spaces between words, or of Korean, whose words have parts that
        /// people search for.
        case unspaced
        /// An emoji or a part of one, or another symbol that is a picture.
        case pictograph
        /// Separates words.
        case separator
    }

    var searchRole: SearchRole {
        if isASCII {
            return isASCIIAlphanumeric ? .word : .separator
        }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            return isUnspaced ? .unspaced : .word
        case .nonspacingMark, .spacingMark, .enclosingMark: return isUnspaced ? .unspaced : .mark
        default: return isPictograph || isEmojiTag ? .pictograph : .separator
        }
    }

    var isASCIIAlphanumeric: Bool {
        (0x61...0x7A).contains(value) || (0x30...0x39).contains(value) || (0x41...0x5A).contains(value)
    }

    /// Whether it is an emoji, a modifier or half a flag, or a symbol from the blocks of arrows on.
    var isPictograph: Bool {
        guard value >= 0x2190 else { return false }
        return switch properties.generalCategory {
        case .otherSymbol: true
        case .modifierSymbol, .mathSymbol, .dashPunctuation, .otherPunctuation: properties.isEmoji
        default: false
        }
    }

    /// Whether it modifies the colour of the emoji before it.
    var isSkinTone: Bool { (0x1F3FB...0x1F3FF).contains(value) }
    /// Whether it is one half of a flag.
    var isRegionalIndicator: Bool { (0x1F1E6...0x1F1FF).contains(value) }
    /// Whether it is one of the tags that follow the flag of a region, or the joiner of an emoji, which
    /// ``Swift/String/searchFolded`` leaves within emoji only.
    var isEmojiTag: Bool { (0xE0020...0xE007F).contains(value) || value == 0x200D }

    private var isUnspaced: Bool {
        switch value {
        // Thai, Lao, Tibetan and Myanmar, Hangul, Khmer, Tai.
        case 0xE00...0x109F, 0x1100...0x11FF, 0x1780...0x17FF, 0x1950...0x19FF, 0x1A20...0x1AAF: true
        // Kana, Bopomofo, Han, Yi.
        case 0x3005...0x3007, 0x3040...0x318F, 0x31A0...0x31BF, 0x31F0...0x31FF, 0x3400...0x9FFF, 0xA000...0xA4CF: true
        // Hangul, Myanmar, Tai, Hangul, Kana.
        case 0xA960...0xA97F, 0xA9E0...0xA9FF, 0xAA60...0xAADF, 0xAC00...0xD7FF, 0x1B000...0x1B16F: true
        default: value > 0xF900 && properties.isIdeographic
        }
    }
}

extension String {
    /// Its FNV-1a hash: the same in every process, unlike that of `Hasher`, for owners and ranks of a ``SearchIndex``.
    package var stableHash: UInt64 {
        utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
