import HTTPTypes

extension JournalEntry {
    /// Fields whose value may be a credential of a real account, even here: a misconfigured server may send its own.
    private static let credentials: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "spacex-key", "x-api-key",
    ]

    /// The fields as the journal shows them: a credential only as the beginning of its SHA-256.
    static func headers(of fields: HTTPFields, authority: String?) -> [Header] {
        let host = authority.map { [Header(name: "host", value: $0)] } ?? []
        return host
            + fields.map { field in
                let name = field.name.canonicalName
                let isCredential = credentials.contains(name)
                return Header(name: name, value: isCredential ? Redaction.value(field.value) : field.value)
            }
    }

    /// The target as the journal shows it.
    static func path(of target: String) -> String { Redaction.target(target) }
}
