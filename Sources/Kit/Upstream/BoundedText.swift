extension String {
    /// Returns a text of an upstream as it is stored in a row: without NUL, at which SQLite's functions end a text, and
    /// cut to a length, since what is indexed or compared must not be as long as a response may be.
    ///
    /// - Parameter longest: Characters. A character with many combining marks counts as several.
    /// - Returns: Nil if the text is blank.
    public func rowText(longest: Int) -> String? {
        var text = self
        if text.utf8.count > longest {
            text = String(String(text.unicodeScalars.prefix(4 * longest)).prefix(longest))
        }
        if text.utf8.contains(0) { text = text.replacing("\0", with: "") }
        return text.allSatisfy(\.isWhitespace) ? nil : text
    }
}
