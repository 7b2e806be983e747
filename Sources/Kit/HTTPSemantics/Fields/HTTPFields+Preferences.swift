public import HTTPTypes

extension HTTPFields {
    /// Whether a request prefers to be answered before it is carried out: `Prefer: respond-async` (RFC 7240 §4.1).
    /// Names are compared in any case, parameters and other preferences are ignored. The preference has no value; an
    /// empty one is none (§2).
    public var prefersAsyncResponse: Bool {
        self[values: .prefer].contains { line in
            FieldList.members(of: line).contains { member in
                let preference = member.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                let value = preference.dropFirst().first.map { FieldList.trim($0) } ?? ""
                return FieldList.trim(preference.first ?? "").lowercased() == Self.respondAsync
                    && (value.isEmpty || value == #""""#)
            }
        }
    }

    /// The preference as a value of `Prefer` and of `Preference-Applied`.
    public static let respondAsync = "respond-async"
}

extension HTTPField.Name {
    /// `Prefer` (RFC 7240 §2).
    public static let prefer = HTTPField.Name(literal: "Prefer")
    /// `Preference-Applied` (RFC 7240 §3).
    public static let preferenceApplied = HTTPField.Name(literal: "Preference-Applied")
}
