extension Unicode.Scalar {
    /// What a scalar is for searches.
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
        /// What separates words.
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
