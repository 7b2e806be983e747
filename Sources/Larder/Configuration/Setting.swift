/// One setting of Larder: its one name everywhere, what it accepts, and what holds where nobody sets it.
struct Setting: Sendable, Equatable {
    /// What a setting accepts.
    enum Kind: Sendable, Equatable {
        /// A whole number within a range.
        case integer(ClosedRange<Int>)
        /// An absolute http or https URL; where it is optional, nothing is the default.
        case url
        /// One of these words.
        case choice([String])
        /// Words separated by commas.
        case list
        /// Host names or addresses, separated by commas.
        case hosts
        /// Web origins or `*`, separated by commas.
        case origins
        /// Any text.
        case text
        /// An RFC 3339 instant.
        case instant
    }

    /// Name with dots, such as `upstreams.spacex.url`.
    let key: String
    /// What it accepts.
    let kind: Kind
    /// What holds where nobody sets it, as it would be written; nil where that is decided at start.
    let standard: String?
    /// What it is for, in one line.
    let summary: String
    /// What the reference page says in addition, in Markdown; empty for nothing.
    let note: String

    init(_ key: String, _ kind: Kind, default standard: String?, _ summary: String, note: String = "") {
        self.key = key
        self.kind = kind
        self.standard = standard
        self.summary = summary
        self.note = note
    }

    /// `upstreams.spacex.url` → `--upstreams-spacex-url`.
    var flag: String { "--" + key.replacing(".", with: "-").replacing("_", with: "-") }

    /// `upstreams.spacex.url` → `LARDER_UPSTREAMS_SPACEX_URL`.
    var environmentName: String { "LARDER_" + key.replacing(".", with: "_").uppercased() }

    /// What a URL may be, for people.
    static let acceptedURL = "an absolute http:// or https:// URL with no port or one from 1 to 65535"

    /// What it accepts, for people.
    var accepted: String {
        switch kind {
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .url: Self.acceptedURL
        case .choice(let words): words.joined(separator: " or ")
        case .list: "words separated by commas"
        case .hosts: "host names and addresses without scheme and path, separated by commas"
        case .origins: "web origins such as https://shop.example:8443, without path, separated by commas, or *"
        case .text: "any text"
        case .instant: "an RFC 3339 instant such as 2026-01-05T10:00:00Z"
        }
    }
}
