import Storage

/// Titles and texts in the form of the search index.
enum SearchText {
    /// Ends each title, twice: no text that is searched for contains it.
    static let end = "\u{2}"

    /// Returns the indexed form of a title.
    static func indexed(_ title: String) -> String { title.caseFolded.replacing(end, with: " ") + end + end }

    /// Returns a text as a phrase of FTS5's query syntax.
    static func phrase(_ text: String) -> String { "\"" + text.replacing("\"", with: "\"\"") + "\"" }

    /// Returns the first text after all texts that begin with this one; nil if there is none.
    static func successor(of text: String) -> String? {
        var scalars = Array(text.unicodeScalars)
        while let last = scalars.popLast() {
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            if let scalar = Unicode.Scalar(next) {
                scalars.append(scalar)
                return String(String.UnicodeScalarView(scalars))
            }
        }
        return nil
    }
}
