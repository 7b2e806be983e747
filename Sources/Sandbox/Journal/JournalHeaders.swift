import Crypto
import HTTPTypes

extension JournalEntry {
    /// Fields whose value may be a credential of a real account, even here: a misconfigured server may send its own.
    private static let credentials: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "spacex-key", "x-api-key",
    ]

    /// The fields as the journal shows them: a credential only as the beginning of its SHA-256, enough to tell two
    /// apart.
    static func headers(of fields: HTTPFields, authority: String?) -> [Header] {
        let host = authority.map { [Header(name: "host", value: $0)] } ?? []
        return host
            + fields.map { field in
                let name = field.name.canonicalName
                return Header(name: name, value: credentials.contains(name) ? redacted(field.value) : field.value)
            }
    }

    /// The target as the journal shows it: the value of a query parameter `key`, where the people API takes its
    /// credential, is redacted as well.
    static func path(of target: String) -> String {
        guard let question = target.firstIndex(of: "?") else { return target }
        let items = target[target.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false).map
        { item in
            item.hasPrefix("key=") ? "key=\(redacted(String(item.dropFirst(4))))" : String(item)
        }
        return target[...question] + items.joined(separator: "&")
    }

    private static func redacted(_ value: String) -> String {
        "sha256:"
            + SHA256.hash(data: Array(value.utf8)).prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            .joined()
    }
}
