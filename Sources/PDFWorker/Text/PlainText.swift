/// The parts of a text that are drawn on pages.
enum PlainText {
    enum Paragraph: Equatable {
        case text(String)
        /// U+000C.
        case pageBreak
    }

    /// Returns a text with line breaks of one kind, and without other control characters, which no font has.
    static func cleaned(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
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
