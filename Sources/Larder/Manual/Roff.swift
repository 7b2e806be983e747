/// Text of a command's help as requests and text lines of roff.
enum Roff {
    /// Returns text in which nothing is a request or an escape, and a hyphen is that of a command line.
    static func escape(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }

    /// Returns the lines of a discussion. A title begins a section, lines that are indented by two are shown
    /// as they are, and one before a line that is indented more is the tag of that line.
    static func lines(of discussion: String) -> [String] {
        let source = discussion.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var (lines, isVerbatim) = ([String](), false)
        func verbatim(_ wanted: Bool) {
            if wanted != isVerbatim { lines.append(wanted ? ".nf" : ".fi") }
            isVerbatim = wanted
        }
        for (index, line) in source.enumerated() {
            let text = line.drop { $0 == " " }
            let (indent, next) = (line.count - text.count, index + 1 < source.count ? source[index + 1] : "")
            if text.isEmpty {
                verbatim(false)
                lines.append(".PP")
            } else if indent == 0, isHeading(line) {
                verbatim(false)
                if lines.last == ".PP" { lines.removeLast() }
                lines.append(".SH \"\(escape(line))\"")
            } else if indent >= 6 {
                lines.append(escape(String(text)))
            } else if indent > 0, next.hasPrefix("      ") {
                verbatim(false)
                lines += [".TP", "\\fB\(escape(String(text)))\\fR"]
            } else {
                verbatim(indent > 0)
                lines.append(escape(String(text)))
            }
        }
        verbatim(false)
        return lines
    }

    /// Whether a line is the title of a part of the help.
    private static func isHeading(_ line: String) -> Bool { line == "EXAMPLES" || line.hasPrefix("SETTINGS,") }
}
