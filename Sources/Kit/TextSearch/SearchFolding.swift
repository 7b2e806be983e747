import Database
import Foundation

extension String {
    /// The text as searches compare it, whatever its case, width and diacritics.
    ///
    /// Compatibility forms are replaced (NFKC: fullwidth letters, ligatures, halfwidth Katakana, single jamo), letters
    /// are in full case folding (`Straße` is `strasse`, both small sigmas are one) and composed. Latin and Greek
    /// letters lose their diacritics and strokes, ё is е, and marks that readers supply, such as the vowel points of
    /// Arabic and Hebrew, are left out, as are characters without a shape of their own.
    package var searchFolded: String {
        if utf8.allSatisfy({ $0 < 0x80 }) {
            return String(decoding: utf8.lazy.map(SearchFolding.lowered), as: UTF8.self)
        }
        return SearchFolding.plain(SearchFolding.caseFolded(precomposedStringWithCompatibilityMapping))
    }

    /// The text as searches for any part of it compare it: ``searchFolded``, with each flag as one character, so that
    /// neither a half of it is a part, nor the halves of two neighbours.
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

    /// Returns the letter that stands for one with a stroke or for a ligature, which Unicode does not decompose, and
    /// for ё, for which most people write е; nil for others.
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

    /// Whether a scalar is left out. What joins the parts of an emoji stays.
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
