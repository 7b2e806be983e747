/// The basic check of the login screen.
enum EmailAddress {
    /// Whether a text is one `@` with something before it and a domain after it, at most 254 bytes long (RFC 5321
    /// §4.5.3.1.3). A domain has at least one dot, no empty labels, and neither spaces nor control characters.
    static func isValid(_ text: String) -> Bool {
        guard text.utf8.count <= 254,
            !text.unicodeScalars.contains(where: {
                $0.properties.isWhitespace || $0.properties.generalCategory == .control
            })
        else {
            return false
        }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else { return false }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
    }
}
