/// What of a text goes onto pages.
enum PlainText {
    enum Paragraph: Equatable {
        case text(String)
        /// U+000C.
        case pageBreak
    }

    /// Line breaks of all kinds become one; other control characters, which no font shows, go.
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

    /// Cuts at line and page breaks. Breaks at the very end make no empty paragraph or page.
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

    /// The text's characters, each once, on lines of their own: combined ones stay with what they combine with.
    static func alphabet(of text: String) -> String {
        var seen: Set<Character> = []
        return text.filter { !$0.isWhitespace && seen.insert($0).inserted }.map(String.init).joined(separator: "\n")
    }
}
