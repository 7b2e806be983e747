import Foundation
import HTTPSemantics
import HTTPServer
import HTTPTypes
import Settings
import Upstream

extension Setting.Kind {
    /// Whether a value is a list of words.
    var isList: Bool {
        switch self {
        case .list, .hosts, .addressRanges, .origins, .methods, .requestFields: true
        case .integer, .url, .choice, .timeZone, .text, .instant: false
        }
    }

    /// Whether a setting of this kind accepts a text.
    func accepts(_ text: String) -> Bool {
        let words = SettingValues.words(of: text)
        return switch self {
        case .integer(let range): Int(text).map(range.contains) ?? false
        case .choice(let words): words.contains(text)
        case .url: text.isEmpty || Self.isBaseURL(text)
        case .hosts: words.allSatisfy { HostRules.name(of: $0) != nil && !$0.contains { "/@*".contains($0) } }
        case .addressRanges: words.allSatisfy { AddressRange($0) != nil }
        case .origins: words.allSatisfy { $0 == "*" || Self.isOrigin($0) }
        case .requestFields: words.allSatisfy { RequestField(setting: $0) != nil }
        case .methods: words.allSatisfy { HTTPRequest.Method($0.uppercased()).map { $0 != .connect } ?? false }
        case .timeZone: TimeZone(identifier: text) != nil
        case .instant:
            // A year of RFC 3339 has four digits.
            text.isEmpty
                || (text.utf8.dropFirst(4).first == UInt8(ascii: "-") && (try? Date(text, strategy: .iso8601)) != nil)
        case .list, .text: true
        }
    }

    /// Whether a text is scheme, host and port as a browser writes them into `Origin`: any other form would never
    /// match. Pages without an address are `null` or `file://`.
    private static func isOrigin(_ text: String) -> Bool {
        guard let end = text.firstRange(of: "://") else { return text == "null" }
        let host = text[end.upperBound...]
        return end.lowerBound > text.startIndex && (!host.isEmpty || text == "file://")
            && !host.contains { "/?#@*".contains($0) || $0.isWhitespace }
    }

    /// Whether a text is an ``HTTPURL`` without credentials, query or fragment.
    private static func isBaseURL(_ text: String) -> Bool {
        guard let address = try? HTTPURL(text), let url = URL(string: text) else { return false }
        return !address.hasUser && url.query == nil && url.fragment == nil
    }
}
