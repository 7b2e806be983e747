package import Foundation

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
    /// An addition to the reference page, in Markdown; empty for none.
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

/// The values of settings, validated and read by key.
package struct SettingValues: Sendable {
    private let texts: [String: String]
    private let explicit: Set<String>

    /// Creates the values.
    /// - Parameters:
    ///   - texts: accepted values by key, defaults included
    ///   - explicit: keys that are set on the command line, in the environment or in a file
    package init(_ texts: [String: String], explicit: Set<String> = []) {
        self.texts = texts
        self.explicit = explicit
    }

    /// Returns the values of these settings and no others.
    package func restricted(to settings: [Setting]) -> SettingValues {
        let keys = Set(settings.map(\.key))
        return SettingValues(texts.filter { keys.contains($0.key) }, explicit: explicit.intersection(keys))
    }

    /// Whether a setting has a value other than by default.
    package func isSet(_ key: String) -> Bool { explicit.contains(key) }

    /// Returns a value as it was written.
    /// - Throws: ``SettingError/unknown(name:source:similar:)`` if no setting with this key was declared.
    package func text(_ key: String) throws(SettingError) -> String {
        guard let text = texts[key] else { throw .unknown(name: key, source: "Larder", similar: []) }
        return text
    }

    /// Returns a whole number.
    /// - Throws: ``SettingError`` if the setting was not declared or is of another kind.
    package func integer(_ key: String) throws(SettingError) -> Int {
        try value(of: key, accepted: "a whole number") { Int($0) }
    }

    /// Returns a duration given in milliseconds; its key ends in `_ms`.
    /// - Throws: ``SettingError`` if the setting was not declared or is of another kind.
    package func milliseconds(_ key: String) throws(SettingError) -> Duration { .milliseconds(try integer(key)) }

    /// Returns a duration given in seconds; its key ends in `_s`.
    /// - Throws: ``SettingError`` if the setting was not declared or is of another kind.
    package func seconds(_ key: String) throws(SettingError) -> Duration { .seconds(try integer(key)) }

    /// Returns a number of bytes given in MiB; its key ends in `_mb`.
    /// - Throws: ``SettingError`` if the setting was not declared or is of another kind.
    package func mebibytes(_ key: String) throws(SettingError) -> Int { try integer(key) << 20 }

    /// Returns whether the setting is `true`.
    /// - Throws: ``SettingError`` if the setting was not declared or is of another kind.
    package func flag(_ key: String) throws(SettingError) -> Bool {
        try value(of: key, accepted: "true or false") { Bool($0) }
    }

    /// Returns one of the words of a choice.
    /// - Throws: ``SettingError`` if the setting was not declared or has other words.
    package func choice<Choice: RawRepresentable<String>>(_ key: String) throws(SettingError) -> Choice {
        try value(of: key, accepted: "the words of \(Choice.self)") { Choice(rawValue: $0) }
    }

    /// Returns words separated by commas.
    /// - Throws: ``SettingError`` if the setting was not declared.
    package func list(_ key: String) throws(SettingError) -> [String] { Self.words(of: try text(key)) }

    /// Returns a URL without slashes at its end; nil if the setting is empty.
    /// - Throws: ``SettingError`` if the setting was not declared or is of another kind.
    package func url(_ key: String) throws(SettingError) -> URL? {
        var text = try text(key)
        while text.hasSuffix("/") { text.removeLast() }
        return text.isEmpty ? nil : try value(of: key, accepted: "a URL") { _ in URL(string: text) }
    }

    /// Returns a time zone.
    /// - Throws: ``SettingError`` if the setting was not declared or is of another kind.
    package func timeZone(_ key: String) throws(SettingError) -> TimeZone {
        try value(of: key, accepted: "a time zone") { TimeZone(identifier: $0) }
    }

    /// Returns an instant; nil if the setting is empty.
    /// - Throws: ``SettingError`` if the setting was not declared or is of another kind.
    package func instant(_ key: String) throws(SettingError) -> Date? {
        guard !(try text(key)).isEmpty else { return nil }
        return try value(of: key, accepted: "an instant") { try? Date($0, strategy: .iso8601) }
    }

    /// Splits a list at its commas.
    package static func words(of text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private func value<Value>(of key: String, accepted: String, _ read: (String) -> Value?) throws(SettingError)
        -> Value
    {
        let text = try text(key)
        guard let value = read(text) else {
            throw .unacceptable(key: key, value: text, source: "Larder", accepted: accepted)
        }
        return value
    }
}

/// An unusable setting: its name, where it was set, and the values that it accepts.
package enum SettingError: Error, CustomStringConvertible, Equatable {
    /// No setting has this name.
    case unknown(name: String, source: String, similar: [String])
    /// Upstreams have no such setting; `known` are the last parts of the names that they have.
    case unknownOfUpstream(name: String, source: String, known: [String])
    /// The setting does not accept this value.
    case unacceptable(key: String, value: String, source: String, accepted: String)
    /// An argument is neither a flag nor the value of one.
    case unexpected(argument: String)
    /// A flag is not followed by a value.
    case missingValue(flag: String)
    /// The configuration file cannot be read.
    case file(path: String, reason: String)

    /// One line for people.
    package var description: String {
        switch self {
        case .unknown(let name, let source, let similar):
            let hint =
                similar.isEmpty
                ? "larder serve --help lists all settings" : "did you mean \(similar.joined(separator: " or "))?"
            return "\(source): there is no setting \(name); \(hint)"
        case .unknownOfUpstream(let name, let source, let known):
            return "\(source): there is no setting \(name); an upstream has \(known.joined(separator: ", "))"
        case .unacceptable(let key, let value, let source, let accepted):
            return "\(source): \(key) cannot be \"\(value)\"; it accepts \(accepted)"
        case .unexpected(let argument):
            return "command line: \"\(argument)\" is not expected; a setting is a flag and a value: --http-port 8081"
        case .missingValue(let flag):
            return "command line: \(flag) needs a value"
        case .file(let path, let reason):
            return "configuration file \(path): \(reason)"
        }
    }
}
