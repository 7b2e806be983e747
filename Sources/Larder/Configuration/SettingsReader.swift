import Configuration
import Foundation
import Yams

/// Reads settings from where they may be set: command line, then environment, then file, then defaults
/// (swift-configuration providers, in this order).
struct SettingsReader {
    private struct Source {
        let name: @Sendable (Setting) -> String
        let reader: ConfigReader
    }

    private let sources: [Source]
    /// Upstreams that somebody named and the catalogue does not.
    let furtherUpstreams: [String]

    /// - Parameters:
    ///   - arguments: `--key-with-dashes value` or `--key-with-dashes=value`, nothing else.
    ///   - environment: Of the process; names that begin with `LARDER_` must be settings.
    ///   - file: Path of a YAML or JSON file, nil for none.
    /// - Throws: ``SettingError`` for names that are no settings and a file that cannot be read.
    init(arguments: [String], environment: [String: String], file: String?) throws {
        let flags = try Self.flags(arguments)
        let variables = try Self.variables(environment)
        let entries = try file.map(Self.entries) ?? [:]
        let written = Array(flags.keys) + Array(entries.keys)
        let named = written.compactMap { Setting.ofUpstream(key: $0.components.joined(separator: ".")) }
        let names = Set(
            (named + variables.keys.compactMap(Setting.ofUpstream(environmentName:))).compactMap(\.upstreamName)
        )
        furtherUpstreams = names.subtracting(Setting.upstreams.map(\.name)).sorted()
        sources = [
            Source(
                name: { "command line \($0.flag)" },
                reader: ConfigReader(provider: InMemoryProvider(name: "command line", values: flags))
            ),
            Source(
                name: { "environment \($0.environmentName)" },
                reader: ConfigReader(
                    provider: EnvironmentVariablesProvider(environmentVariables: variables).prefixKeys(with: "larder")
                )
            ),
            Source(
                name: { _ in "configuration file \(file ?? "")" },
                reader: ConfigReader(provider: InMemoryProvider(name: "file", values: entries))
            ),
        ]
    }

    /// The value of a setting as it was written, and where; nil where only the default is left.
    func value(of setting: Setting) -> (text: String, source: String)? {
        for source in sources {
            // An empty variable, as compose files pass on, is one that nobody has set.
            if let text = source.reader.string(forKey: ConfigKey(setting.key)), !text.isEmpty {
                return (text, source.name(setting))
            }
        }
        return nil
    }

    private static func flags(_ arguments: [String]) throws -> [AbsoluteConfigKey: ConfigValue] {
        let known = Dictionary(uniqueKeysWithValues: Setting.catalogue.map { ($0.flag, $0) })
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard argument.hasPrefix("--"), let setting = known[parts[0]] ?? .ofUpstream(flag: parts[0]) else {
                throw SettingError.unknown(parts[0], source: "command line", among: Array(known.keys))
            }
            guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
                throw SettingError.missingValue(flag: parts[0])
            }
            values[key(setting.key)] = ConfigValue(.string(value), isSecret: false)
        }
        return values
    }

    private static func variables(_ environment: [String: String]) throws -> [String: String] {
        let known = Set(Setting.catalogue.map(\.environmentName))
        let own = environment.filter { $0.key.hasPrefix("LARDER_") }
        for name in own.keys.sorted() where !known.contains(name) && Setting.ofUpstream(environmentName: name) == nil {
            throw SettingError.unknown(name, source: "environment", among: Array(known))
        }
        return own
    }

    /// A mapping of mappings, such as `http: {port: 8080}`; JSON is YAML.
    private static func entries(_ path: String) throws -> [AbsoluteConfigKey: ConfigValue] {
        let node: Node?
        do {
            node = try Yams.compose(yaml: String(contentsOfFile: path, encoding: .utf8))
        } catch {
            let reason = error is YamlError ? "\(error)" : error.localizedDescription
            throw SettingError.file(path: path, reason: "it cannot be read as YAML or JSON: \(reason)")
        }
        guard let node else { return [:] }
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        try collect(node, key: "", path: path, into: &values)
        return values
    }

    private static func collect(
        _ node: Node,
        key name: String,
        path: String,
        into values: inout [AbsoluteConfigKey: ConfigValue]
    ) throws {
        if let mapping = node.mapping {
            for (child, value) in mapping {
                try collect(
                    value,
                    key: name.isEmpty ? child.string ?? "" : "\(name).\(child.string ?? "")",
                    path: path,
                    into: &values
                )
            }
            return
        }
        guard Setting.named(name) != nil else {
            throw SettingError.unknown(name, source: "configuration file \(path)", among: Setting.catalogue.map(\.key))
        }
        guard
            let text = node.scalar?.string
                ?? node.sequence.map({ $0.compactMap(\.scalar?.string).joined(separator: ",") })
        else {
            throw SettingError.file(path: path, reason: "\(name) must be a word, a number or a list of words")
        }
        values[key(name)] = ConfigValue(.string(text == "null" || text == "~" ? "" : text), isSecret: false)
    }

    private static func key(_ name: String) -> AbsoluteConfigKey { AbsoluteConfigKey(ConfigKey(name)) }
}
