/// The basic check of the login screen: one `@`, something before it, a domain with a dot and no empty labels, no
/// spaces, at most 254 characters (RFC 5321 §4.5.3.1.3).
enum EmailAddress {
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
