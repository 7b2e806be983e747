/// A setting of Larder: its one name everywhere, the values it accepts, and its default.
package struct Setting: Sendable, Equatable {
    /// The values that a setting accepts.
    package enum Kind: Sendable, Equatable {
        /// A whole number within a range.
        case integer(ClosedRange<Int>)
        /// An absolute http or https URL, or nothing.
        case url
        /// One of these words.
        case choice([String])
        /// Words separated by commas.
        case list
        /// Host names or addresses, separated by commas.
        case hosts
        /// IP addresses and ranges of them in CIDR notation, separated by commas.
        case addressRanges
        /// Web origins or `*`, separated by commas.
        case origins
        /// HTTP methods except CONNECT, separated by commas.
        case methods
        /// Names of request fields, each optionally followed by `:unkeyed`, separated by commas.
        case requestFields
        /// A name of the IANA time zone database.
        case timeZone
        /// Any text.
        case text
        /// An RFC 3339 instant.
        case instant
    }

    /// Name with dots, such as `upstreams.spacex.url`.
    package let key: String
    /// The values it accepts.
    package let kind: Kind
    /// The default value, as it would be written; nil if it is determined at start.
    package let standard: String?
    /// A one-line description.
    package let summary: String
    /// What the reference page says in addition, in Markdown; empty for nothing.
    package let note: String

    /// Declares a setting.
    package init(_ key: String, _ kind: Kind, default standard: String?, _ summary: String, note: String = "") {
        self.key = key
        self.kind = kind
        self.standard = standard
        self.summary = summary
        self.note = note
    }

    /// The accepted values, for people.
    package var accepted: String {
        switch kind {
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .url: "an absolute http:// or https:// URL with no port or one from 1 to 65535"
        case .choice(let words): words.joined(separator: " or ")
        case .list: "words separated by commas"
        case .hosts: "host names and addresses without scheme and path, separated by commas"
        case .addressRanges: "IP addresses and ranges such as 10.0.0.0/8 or ::1, separated by commas"
        case .origins: "web origins such as https://shop.example:8443, without path, separated by commas, or *"
        case .methods: "methods of HTTP but CONNECT, separated by commas"
        case .requestFields:
            "names of end-to-end request fields, each optionally followed by :unkeyed, separated by commas"
        case .timeZone: "a name of the time zone database, such as Europe/Moscow"
        case .text: "any text"
        case .instant: "an RFC 3339 instant such as 2026-01-05T10:00:00Z"
        }
    }
}
