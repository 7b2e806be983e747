import Foundation
import HTTP
import HTTPTypes
import Screens
import Server
import Upstream

/// Every setting of a server with these apps. `--help`, the documentation and the parser of settings use it.
struct SettingCatalogue: Sendable {
    /// The settings in the order in which they are documented.
    let all: [any SettingDeclaration]
    let upstreamNames: Set<String>

    init(_ apps: AppList) {
        all =
            HTTPSettings.all + [ServerSettings.dataDirectory] + apps.upstreams.flatMap { UpstreamSettings(of: $0).all }
            + apps.types.flatMap { $0.settings } + ServerSettings.all
        upstreamNames = Set(apps.upstreams.map(\.name))
    }

    /// Returns the setting of a key, also of an upstream that no app uses; nil if there is none.
    func setting(key: String) -> (any SettingDeclaration)? {
        all.first { $0.key == key } ?? UpstreamSettings.setting(key: key)
    }

    func setting(flag: String) -> (any SettingDeclaration)? {
        all.first { $0.flag == flag } ?? UpstreamSettings.setting(flag: flag)
    }

    func setting(environmentName: String) -> (any SettingDeclaration)? {
        all.first { $0.environmentName == environmentName }
            ?? UpstreamSettings.setting(environmentName: environmentName)
    }
}

extension SettingForm<[String]> {
    static var hosts: Self {
        elements(
            "host names and addresses without scheme and path, separated by commas",
            column: "host names",
            element: { HostRules.name(of: $0) != nil && !$0.contains { "/@*".contains($0) } ? $0 : nil },
            text: { $0 }
        )
    }

    static var origins: Self {
        elements(
            "web origins such as https://shop.example:8443, without path, separated by commas, or *",
            column: "origins (scheme, host, port)",
            element: { $0 == "*" || isOrigin($0) ? $0 : nil },
            text: { $0 }
        )
    }

    /// Whether a text is scheme, host and port as a browser writes them into `Origin`. Any other form would never
    /// match. Pages without an address send `null` or `file://`.
    private static func isOrigin(_ text: String) -> Bool {
        guard let end = text.firstRange(of: "://") else { return text == "null" }
        let host = text[end.upperBound...]
        return end.lowerBound > text.startIndex && (!host.isEmpty || text == "file://")
            && !host.contains { "/?#@*".contains($0) || $0.isWhitespace }
    }
}

extension SettingForm<[AddressRange]> {
    /// IP addresses and ranges of them in CIDR notation.
    static var addressRanges: Self {
        elements(
            "IP addresses and ranges such as 10.0.0.0/8 or ::1, separated by commas",
            column: "IP addresses and CIDR ranges",
            element: { AddressRange($0) },
            text: { "\($0)" }
        )
    }
}

extension SettingForm<[HTTPRequest.Method]> {
    static var methods: Self {
        elements(
            "methods of HTTP but CONNECT, separated by commas",
            column: "HTTP methods but CONNECT",
            element: { HTTPRequest.Method($0.uppercased()).flatMap { $0 == .connect ? nil : $0 } },
            text: { $0.rawValue }
        )
    }
}

extension SettingForm<[RequestField]> {
    /// Names of request fields, each optionally followed by `:unkeyed`.
    static var requestFields: Self {
        elements(
            "names of end-to-end request fields, each optionally followed by :unkeyed, separated by commas",
            column: "names of request fields, each may end in `:unkeyed`",
            element: { RequestField(setting: $0) },
            text: { "\($0.name)\($0.isKey ? "" : ":unkeyed")" }
        )
    }
}

extension SettingForm<URL?> {
    /// Empty, or an absolute http or https URL, of which slashes at the end are removed.
    static var url: Self {
        SettingForm(
            "an absolute http:// or https:// URL with no port or one from 1 to 65535",
            column: "http(s) URL, port 1…65535",
            value: { text in
                guard !text.isEmpty else { return .some(nil) }
                guard isBaseURL(text) else { return nil }
                var text = text
                while text.hasSuffix("/") { text.removeLast() }
                return URL(string: text)
            },
            text: { $0?.absoluteString ?? "" }
        )
    }

    /// Empty, or the path of a folder.
    static var folder: Self {
        SettingForm(
            "any text",
            column: "text",
            value: { $0.isEmpty ? .some(nil) : URL(filePath: $0, directoryHint: .isDirectory) },
            text: { $0?.path ?? "" }
        )
    }

    /// Whether a text is an ``HTTPURL`` without credentials, query or fragment.
    private static func isBaseURL(_ text: String) -> Bool {
        guard let address = try? HTTPURL(text), let url = URL(string: text) else { return false }
        return !address.hasUser && url.query == nil && url.fragment == nil
    }
}

extension SettingForm<Date?> {
    /// Empty, or an RFC 3339 instant.
    static var instant: Self {
        SettingForm(
            "an RFC 3339 instant such as 2026-01-05T10:00:00Z",
            column: "RFC 3339 instant",
            value: { text in
                guard !text.isEmpty else { return .some(nil) }
                // A year of RFC 3339 has four digits.
                guard text.utf8.dropFirst(4).first == UInt8(ascii: "-"),
                    let date = try? Date(text, strategy: .iso8601)
                else { return nil }
                return date
            },
            text: { $0?.formatted(.iso8601) ?? "" }
        )
    }
}

extension SettingDeclaration {
    /// `upstreams.spacex.url` → `--upstreams-spacex-url`.
    var flag: String { "--" + spelled(dot: "-", underscore: "-") }

    /// `upstreams.spacex.url` → `LARDER_UPSTREAMS_SPACEX_URL`.
    var environmentName: String { "LARDER_" + spelled(dot: "_", underscore: "_").uppercased() }

    /// Returns the key, which is ASCII, with other separators. Each start calls this several times for all settings.
    private func spelled(dot: Unicode.Scalar, underscore: Unicode.Scalar) -> String {
        let bytes = key.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "."): UInt8(ascii: dot)
            case UInt8(ascii: "_"): UInt8(ascii: underscore)
            default: byte
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension SettingError {
    /// Returns the error for a name that no setting has, with suggestions. The suggestions are the nearest names. If
    /// there are none, they are the settings of upstreams for a name that begins like one, or else names that begin or
    /// end with the same words.
    static func unknown(_ name: String, source: String, among known: [String]) -> SettingError {
        // By its letters `--port` is nearer to `--import` than to `--http-port`, the setting that a user means.
        let last = words(of: name).count == 1 ? related(to: name, among: known) : []
        let nearest = last.isEmpty ? NameSuggestions(for: name, among: known).names : last
        guard nearest.isEmpty else { return .unknown(name: name, source: source, similar: nearest) }
        return words(of: name).first == "upstreams"
            ? .unknownOfUpstream(name: name, source: source, known: UpstreamSettings.endings)
            : .unknown(name: name, source: source, similar: related(to: name, among: known))
    }

    /// Returns the error for a flag that is neither a setting nor a flag of the command. It suggests the commands that
    /// have the flag, or else the nearest settings and flags of the command.
    static func unknown(flag: String, _ settings: [String], _ commandFlags: CommandFlags?) -> SettingError {
        let (own, elsewhere) = (commandFlags?.own ?? [], commandFlags?.elsewhere(flag) ?? [])
        guard elsewhere.isEmpty else { return .unknown(name: flag, source: "command line", similar: elsewhere) }
        return unknown(flag, source: "command line", among: settings + own)
    }

    /// Returns at most three known names that end with the words of a name, such as `--http-port` for `--port`, or that
    /// begin with them, such as `--data-directory` for `--data`.
    private static func related(to name: String, among known: [String]) -> [String] {
        let words = words(of: name)
        guard !words.isEmpty else { return [] }
        let ending = known.filter { self.words(of: $0).suffix(words.count).elementsEqual(words) }
        let beginning = known.filter {
            self.words(of: $0).joined(separator: " ").hasPrefix(words.joined(separator: " ")) && !ending.contains($0)
        }
        return Array((ending + beginning).prefix(3))
    }

    /// Returns the words of a key, a flag or a variable, which are the same for the three spellings of a setting.
    private static func words(of name: String) -> [Substring] {
        let words = name.lowercased().split { "-._".contains($0) }
        return words.first == "larder" ? Array(words.dropFirst()) : words
    }
}
