import Configuration
import Foundation
import Settings

/// Reads settings from where they may be set: command line, then environment, then file, then defaults
/// (swift-configuration providers, in this order).
struct SettingsReader {
    private struct Source {
        let name: @Sendable (Setting) -> String
        let reader: ConfigReader
    }

    let catalogue: SettingCatalogue
    /// Upstreams that are configured and used by no app, sorted.
    let furtherUpstreams: [String]
    private var sources: [Source]

    /// - Parameters:
    ///   - arguments: `--key-with-dashes value` or `--key-with-dashes=value`, nothing else.
    ///   - environment: Of the process; names that begin with `LARDER_` must be settings.
    ///   - file: Path of a YAML or JSON file, nil for none.
    ///   - catalogue: The settings that exist.
    ///   - commandFlags: Returns the flags of commands, which are suggested for an argument that is no setting.
    /// - Throws: `SettingError` for names that are no settings and a file that cannot be read.
    init(
        arguments: [String],
        environment: [String: String],
        file: String?,
        catalogue: SettingCatalogue = SettingCatalogue(.standard),
        commandFlags: () -> CommandFlags? = { nil }
    ) throws(SettingError) {
        self.catalogue = catalogue
        let flags = try Self.flags(arguments, catalogue, commandFlags)
        let variables = try Self.variables(environment, catalogue)
        let entries = try file.map { path throws(SettingError) in try SettingsFile.entries(path, catalogue) } ?? [:]
        let keys =
            Array(flags.keys) + Array(entries.keys)
            + variables.keys.compactMap { UpstreamSettings.setting(environmentName: $0)?.key }
        furtherUpstreams = Set(keys.compactMap(UpstreamSettings.upstreamName(inKey:)))
            .subtracting(catalogue.upstreamNames).sorted()
        sources = [
            Source(name: { "command line \($0.flag)" }, reader: Self.reader("command line", flags)),
            Source(
                name: { "environment \($0.environmentName)" },
                reader: ConfigReader(
                    provider: EnvironmentVariablesProvider(environmentVariables: variables).prefixKeys(with: "larder")
                )
            ),
            Source(name: { _ in "configuration file \(file ?? "")" }, reader: Self.reader("file", entries)),
        ]
    }

    /// Returns a reader that has these values, by key, for what is set nowhere. It reads no file again, which may have
    /// been a pipe.
    func with(fallbacks: [String: String]) -> SettingsReader {
        var reader = self
        reader.sources.append(Source(name: { _ in "this command" }, reader: Self.reader("fallbacks", fallbacks)))
        return reader
    }

    /// Returns the values of all settings, each checked, so that a mistake is found at start and not when a value is
    /// first used.
    /// - Throws: `SettingError.unacceptable`.
    func values() throws(SettingError) -> SettingValues {
        var texts: [String: String] = [:]
        var explicit: Set<String> = []
        for setting in catalogue.all + furtherUpstreams.flatMap(UpstreamSettings.settings(ofName:)) {
            guard let (text, source) = value(of: setting) else {
                texts[setting.key] = setting.standard ?? ""
                continue
            }
            guard setting.kind.accepts(text) else {
                throw .unacceptable(key: setting.key, value: text, source: source, accepted: setting.accepted)
            }
            texts[setting.key] = text
            explicit.insert(setting.key)
        }
        return SettingValues(texts, explicit: explicit)
    }

    /// Returns the value of a setting as written, and its source; nil if only the default applies.
    private func value(of setting: Setting) -> (text: String, source: String)? {
        for source in sources {
            // An empty variable, as compose files pass on, counts as not set.
            if let text = source.reader.string(forKey: ConfigKey(setting.key)), !text.isEmpty {
                return (text, source.name(setting))
            }
        }
        return nil
    }

    private static func reader(_ name: String, _ values: [String: String]) -> ConfigReader {
        let entries = values.map { key, text in
            (AbsoluteConfigKey(ConfigKey(key)), ConfigValue(.string(text), isSecret: false))
        }
        return ConfigReader(
            provider: InMemoryProvider(name: name, values: Dictionary(entries) { first, _ in first })
        )
    }

    private static func flags(
        _ arguments: [String],
        _ catalogue: SettingCatalogue,
        _ commandFlags: () -> CommandFlags?
    ) throws(SettingError) -> [String: String] {
        var values: [String: String] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard argument.hasPrefix("--") else { throw .unexpected(argument: argument) }
            guard let setting = catalogue.setting(flag: parts[0]) else {
                throw .unknown(flag: parts[0], catalogue.all.map(\.flag), commandFlags())
            }
            guard let value = parts.count > 1 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                throw .missingValue(flag: parts[0])
            }
            values[setting.key] = value
        }
        return values
    }

    /// What `larder exec` tells its command, which may start a server, and what tells the clients of test suites where
    /// the program is.
    private static let notSettings: Set = ["LARDER_URL", "LARDER_SANDBOX_URL", "LARDER_SPACES", "LARDER_EXECUTABLE"]

    private static func variables(_ environment: [String: String], _ catalogue: SettingCatalogue) throws(SettingError)
        -> [String: String]
    {
        let own = environment.filter { $0.key.hasPrefix("LARDER_") && !notSettings.contains($0.key) }
        for name in own.keys.sorted() where catalogue.setting(environmentName: name) == nil {
            throw .unknown(name, source: "environment", among: catalogue.all.map(\.environmentName))
        }
        return own
    }
}
