import Foundation

/// The parts of a text that are drawn on pages.
enum PlainText {
    enum Paragraph: Equatable {
        case text(String)
        /// U+000C.
        case pageBreak
    }

    /// Returns a text with line breaks of one kind, and without other control characters, which no font has. Letters of
    /// several characters are composed, because fonts have glyphs of Korean syllables, not of their parts; others stay,
    /// because composition replaces some ideographs.
    static func cleaned(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar = " "
        for scalar in text.lazy.map(composed).joined() {
            switch scalar {
            case "\r", "\u{85}", "\u{2028}", "\u{2029}", "\u{0B}": result.append("\n")
            case "\n": if previous != "\r" { result.append(scalar) }
            case "\t", "\u{0C}": result.append(scalar)
            default: if scalar.properties.generalCategory != .control { result.append(scalar) }
            }
            previous = scalar
        }
        return String(result)
    }

    private static func composed(_ character: Character) -> String.UnicodeScalarView {
        guard character.unicodeScalars.count > 1 else { return character.unicodeScalars }
        return String(character).precomposedStringWithCanonicalMapping.unicodeScalars
    }

    /// Splits a text at line and page breaks. Breaks at its end make no empty paragraph or page.
    static func paragraphs(of text: String) -> [Paragraph] {
        var paragraphs: [Paragraph] = []
        for (number, page) in text.split(separator: "\u{0C}", omittingEmptySubsequences: false).enumerated() {
            if number > 0 { paragraphs.append(.pageBreak) }
            var lines = page.split(separator: "\n", omittingEmptySubsequences: false)
            if lines.last?.isEmpty == true { lines.removeLast() }
            paragraphs += lines.map { .text(String($0)) }
        }
        while paragraphs.last == .pageBreak || paragraphs.last == .text("") { paragraphs.removeLast() }
        return paragraphs
    }

    /// Returns the characters of a text, each once, on lines of their own; combining ones stay with their base.
    static func alphabet(of text: String) -> String {
        var seen: Set<Character> = []
        return text.filter { !$0.isWhitespace && seen.insert($0).inserted }.map(String.init).joined(separator: "\n")
    }
}
