import Foundation

/// A request target taken apart (RFC 9112 section 3.2.1).
struct RequestTarget: Sendable, Equatable {
    /// Percent-decoded; empty segments are left out.
    let segments: [String]
    /// Percent-decoded, in order; a name without `=` has an empty value.
    let query: [QueryItem]
    /// The same as HTML forms write it: a `+` is a space (WHATWG URL, application/x-www-form-urlencoded).
    let form: [QueryItem]

    struct QueryItem: Sendable, Equatable {
        let name: String
        let value: String
    }

    init(_ target: String) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        segments = (parts.first ?? "").split(separator: "/").map(Self.decoded)
        let text = parts.count > 1 ? parts[1] : ""
        query = Self.items(text)
        form = Self.form(text)
    }

    /// Reads `name=value&…` as HTML forms write it.
    static func form(_ text: some StringProtocol) -> [QueryItem] {
        items(Substring(String(text).replacing("+", with: "%20")))
    }

    private static func items(_ text: Substring) -> [QueryItem] {
        text.split(separator: "&").map { item in
            let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryItem(name: decoded(sides[0]), value: sides.count > 1 ? decoded(sides[1]) : "")
        }
    }

    private static func decoded(_ text: Substring) -> String { text.removingPercentEncoding ?? String(text) }
}
