import CStemmer

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
