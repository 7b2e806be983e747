import HTTPSemantics
import HTTPTypes

/// Normalizes the values of request fields, so that values with the same meaning are equal. RFC 9111 §4.1.
enum SelectingField {
    /// Preferences: their members have weights, not an order. RFC 9110 §12.5.
    private static let unordered: Set<HTTPField.Name> = [.accept, .acceptEncoding, .acceptLanguage, .acceptCharset]
    /// Of those, the fields whose members are case-insensitive: language ranges, codings, charsets. Media types may
    /// have case-sensitive parameters.
    private static let caseless: Set<HTTPField.Name> = [.acceptEncoding, .acceptLanguage, .acceptCharset]

    /// Returns the lines combined, without whitespace around commas; nil if the field is absent, which differs from
    /// empty.
    static func normalized(_ name: HTTPField.Name, in fields: HTTPFields) -> String? {
        guard fields.contains(name) else { return nil }
        var members = fields[values: name].flatMap { FieldList.members(of: $0).map(String.init) }
        if caseless.contains(name) { members = members.map { $0.lowercased() } }
        if unordered.contains(name) { members = members.map(withoutSpaces).sorted() }
        return members.joined(separator: ",")
    }

    /// Removes whitespace around `;`, which has no meaning either; members with quoted parameters stay unchanged.
    private static func withoutSpaces(_ member: String) -> String {
        member.contains("\"") ? member : member.filter { $0 != " " && $0 != "\t" }
    }
}
