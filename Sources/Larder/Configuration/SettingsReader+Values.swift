import Foundation
import HTTPSemantics
import Screens
import Upstream

extension SettingsReader {
    /// A setting as it was written, its default where nobody set it; checked against what the setting accepts.
    ///
    /// - Throws: ``SettingError/unacceptable(key:value:source:accepted:)``; `unknown` for a key that the catalogue
    ///   lacks.
    func text(_ key: String) throws -> String {
        guard let setting = Setting.named(key) else {
            throw SettingError.unknown(name: key, source: "Larder", similar: [])
        }
        guard let (text, source) = value(of: setting) else { return setting.standard ?? "" }
        guard Self.accepts(text, setting.kind) else {
            throw SettingError.unacceptable(key: key, value: text, source: source, accepted: setting.accepted)
        }
        return text
    }

    /// Whether somebody has set it: the default is not what holds.
    func isSet(_ key: String) -> Bool { Setting.named(key).flatMap(value) != nil }

    /// A whole number.
    func integer(_ key: String) throws -> Int { Int(try text(key)) ?? 0 }

    /// A span given in milliseconds; its key ends in `_ms`.
    func milliseconds(_ key: String) throws -> Duration { .milliseconds(try integer(key)) }

    /// A span given in seconds; its key ends in `_s`.
    func seconds(_ key: String) throws -> Duration { .seconds(try integer(key)) }

    /// `true` or `false`.
    func flag(_ key: String) throws -> Bool { try text(key) == "true" }

    /// Words separated by commas.
    func list(_ key: String) throws -> [String] {
        Self.words(try text(key))
    }

    private static func words(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// A URL without slashes at its end; nil where it is empty.
    func url(_ key: String) throws -> URL? {
        var text = try text(key)
        while text.hasSuffix("/") { text.removeLast() }
        return text.isEmpty ? nil : URL(string: text)
    }

    /// Checks every setting, so that a mistake is found at start and not when it is first used.
    func checkAll() throws {
        for setting in Setting.catalogue + furtherUpstreams.flatMap({ Setting.ofUpstream($0) }) {
            _ = try text(setting.key)
        }
    }

    private static func accepts(_ text: String, _ kind: Setting.Kind) -> Bool {
        switch kind {
        case .integer(let range): Int(text).map(range.contains) ?? false
        case .choice(let words): words.contains(text)
        case .url: isBaseURL(text)
        case .hosts: words(text).allSatisfy { HostRules.name(of: $0) != nil && !$0.contains { "/@*".contains($0) } }
        case .origins: words(text).allSatisfy { $0 == "*" || isOrigin($0) }
        case .instant: (try? Date(text, strategy: .iso8601)) != nil
        case .list, .text: true
        }
    }

    /// Scheme, host and port, as a browser writes them into `Origin`: any other form would never match. Pages without
    /// an address are `null` or `file://`.
    private static func isOrigin(_ text: String) -> Bool {
        guard let end = text.firstRange(of: "://") else { return text == "null" }
        let host = text[end.upperBound...]
        return end.lowerBound > text.startIndex && (!host.isEmpty || text == "file://")
            && !host.contains { "/?#@*".contains($0) || $0.isWhitespace }
    }

    /// An ``HTTPURL`` without credentials, query or fragment.
    private static func isBaseURL(_ text: String) -> Bool {
        guard let address = try? HTTPURL(text), let url = URL(string: text) else { return false }
        return !address.hasUser && url.query == nil && url.fragment == nil
    }
}
