import HTTPTypes

/// Brings the values of request fields into one form where their meaning is the same. RFC 9111 §4.1.
enum SelectingField {
    /// Preferences: their members have weights, not an order. RFC 9110 §12.5.
    private static let unordered: Set<HTTPField.Name> = [.accept, .acceptEncoding, .acceptLanguage, .acceptCharset]
    /// Of those, the ones whose members have no case: language ranges, codings, charsets. Media types may have
    /// parameters that do.
    private static let caseless: Set<HTTPField.Name> = [.acceptEncoding, .acceptLanguage, .acceptCharset]

    /// Lines combined, whitespace around commas dropped; nil when the field is absent, which differs from empty.
    static func normalized(_ name: HTTPField.Name, in fields: HTTPFields) -> String? {
        guard fields.contains(name) else { return nil }
        var members = fields[values: name].flatMap { FieldList.members(of: $0).map(String.init) }
        if caseless.contains(name) { members = members.map { $0.lowercased() } }
        if unordered.contains(name) { members = members.map(withoutSpaces).sorted() }
        return members.joined(separator: ",")
    }

    /// Whitespace around `;` says nothing either; quoted parameters are left alone.
    private static func withoutSpaces(_ member: String) -> String {
        member.contains("\"") ? member : member.filter { $0 != " " && $0 != "\t" }
    }
}
