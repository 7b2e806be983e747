package import Foundation

/// The values of settings, checked against what each setting accepts and read by key.
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
