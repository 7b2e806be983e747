import Crypto
import HTTPTypes

extension JournalEntry {
    /// Fields whose value may be a credential of a real account, even here: a misconfigured server may send its own.
    private static let credentials: Set<String> = ["authorization", "proxy-authorization", "cookie", "spacex-key"]

    /// The fields as the journal shows them: a credential only as the beginning of its SHA-256, enough to tell two apart.
    static func headers(of fields: HTTPFields, authority: String?) -> [Header] {
        let host = authority.map { [Header(name: "host", value: $0)] } ?? []
        return host
            + fields.map { field in
                let name = field.name.canonicalName
                return Header(name: name, value: credentials.contains(name) ? redacted(field.value) : field.value)
            }
    }

    private static func redacted(_ value: String) -> String {
        "sha256:" + SHA256.hash(data: Array(value.utf8)).prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
