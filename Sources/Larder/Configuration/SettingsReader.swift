import Foundation
import Sandbox
import Screens
import Yams

/// Reads settings from the command line, the environment, a file and the defaults, in this order of precedence.
struct SettingsReader {
    private struct Source {
        let name: @Sendable (any SettingDeclaration) -> String
        /// The values as written, by key.
        let values: [String: String]
    }

    let catalogue: SettingCatalogue
    /// Configured upstreams that no app uses, sorted.
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
        sources = [
            Source(name: { "command line \($0.flag)" }, values: flags),
            Source(name: { "environment \($0.environmentName)" }, values: variables),
            Source(name: { _ in "configuration file \(file ?? "")" }, values: entries),
        ]
        furtherUpstreams = Set(sources.flatMap(\.values.keys).compactMap(UpstreamSettings.upstreamName(inKey:)))
            .subtracting(catalogue.upstreamNames).sorted()
    }

    /// Returns a reader with these values, by key, for settings that are set nowhere. It does not read the file again,
    /// which may have been a pipe.
    func with(fallbacks: [String: String]) -> SettingsReader {
        var reader = self
        reader.sources.append(Source(name: { _ in "this command" }, values: fallbacks))
        return reader
    }

    /// Returns the values of all settings. Each value is checked, so that a mistake is found at the start and not at
    /// the first use.
    /// - Throws: `SettingError.unacceptable`.
    func values() throws(SettingError) -> SettingValues {
        var values = SettingValues()
        for setting in catalogue.all + furtherUpstreams.flatMap({ UpstreamSettings(named: $0).all }) {
            guard let (text, source) = value(of: setting) else { continue }
            guard values.set(setting, to: text) else {
                throw .unacceptable(key: setting.key, value: text, source: source, accepted: setting.accepted)
            }
        }
        return values
    }

    /// Returns the value of a setting as written, and its source; nil if only the default applies.
    private func value(of setting: any SettingDeclaration) -> (text: String, source: String)? {
        for source in sources {
            // An empty variable, which compose files may define, counts as not set.
            if let text = source.values[setting.key], !text.isEmpty { return (text, source.name(setting)) }
        }
        return nil
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

    /// Variables that are no settings: those that `larder exec` sets for its command, which may start a server, and the
    /// program path for the clients of test suites.
    private static let notSettings: Set = ["LARDER_URL", "LARDER_SANDBOX_URL", "LARDER_SPACES", "LARDER_EXECUTABLE"]

    private static func variables(_ environment: [String: String], _ catalogue: SettingCatalogue) throws(SettingError)
        -> [String: String]
    {
        var values: [String: String] = [:]
        for (name, text) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix("LARDER_") && !notSettings.contains(name) {
            guard let setting = catalogue.setting(environmentName: name), setting.environmentName == name else {
                throw .unknown(name, source: "environment", among: catalogue.all.map(\.environmentName))
            }
            values[setting.key] = text
        }
        return values
    }
}

/// Reads settings from a configuration file: a mapping of mappings, such as `http: {port: 8080}`. JSON is accepted as
/// YAML.
enum SettingsFile {
    /// Largest number of bytes that are read, because a pipe may be endless.
    static let largest = 1 << 20
    /// Longest name of a setting that is shown, in characters.
    private static let longestName = 100

    /// Returns the values of a file by key.
    /// - Throws: `SettingError` if it cannot be read, or has a name that is no setting.
    static func entries(_ path: String, _ catalogue: SettingCatalogue) throws(SettingError) -> [String: String] {
        let root = try Self.root(path)
        var values: [String: String] = [:]
        if let root { try collect(root, key: "", path: path, catalogue, into: &values) }
        return values
    }

    private static func root(_ path: String) throws(SettingError) -> Node? {
        let text: String
        do throws(GivenFile.Defect) {
            text = try GivenFile.text(path, atMost: largest, pipes: true)
        } catch {
            throw .file(path: path, reason: fault(error))
        }
        let root: Node?
        do throws(YAMLDefect) {
            root = try YAMLText.root(of: text)
        } catch {
            throw .file(path: path, reason: Self.reason(error))
        }
        guard root == nil || root?.mapping != nil else {
            throw .file(path: path, reason: "it has no settings; \(form)")
        }
        return root
    }

    /// Describes why a file cannot be read.
    private static func fault(_ defect: GivenFile.Defect) -> String {
        switch defect {
        case .missing: "there is no such file"
        case .forbidden: "this user may not read it"
        case .notText: "it is not a text in UTF-8"
        case .tooLong(let limit): "it has more than \(limit) bytes"
        case .notRead: "it cannot be read; a file with settings is expected, and no directory"
        }
    }

    private static let form = "a setting is written as http: {port: 8081}, and TOML is not read"

    /// Describes where and why a text cannot be used.
    private static func reason(_ defect: YAMLDefect) -> String {
        guard defect.isSyntax else { return defect.reason + (defect.line.map { " (line \($0))" } ?? "") }
        return "it is neither YAML nor JSON (\(defect)); \(form)"
    }

    private static func collect(
        _ node: Node,
        key: String,
        path: String,
        _ catalogue: SettingCatalogue,
        into values: inout [String: String]
    ) throws(SettingError) {
        if let mapping = node.mapping {
            for (child, value) in mapping {
                let name = String((child.string ?? "").prefix(longestName))
                try collect(value, key: key.isEmpty ? name : "\(key).\(name)", path: path, catalogue, into: &values)
            }
            return
        }
        guard let setting = catalogue.setting(key: key) else {
            let group = catalogue.all.filter { $0.key.hasPrefix("\(key).") }
            if let first = group.first {
                let reason = "\(key) is a group of settings and has no value; one of them is \(first.key)"
                throw .file(path: path, reason: reason)
            }
            throw .unknown(key, source: "configuration file \(path)", among: catalogue.all.map(\.key))
        }
        guard let text = text(of: node) else {
            throw .file(path: path, reason: "\(key) must be a word, a number or a list of words")
        }
        guard node.scalar != nil || setting.isList else {
            throw .file(path: path, reason: "\(key) takes one value and no list")
        }
        values[key] = text == "null" || text == "~" ? "" : text
    }

    private static func text(of node: Node) -> String? {
        node.scalar?.string ?? node.sequence.map { $0.compactMap(\.scalar?.string).joined(separator: ",") }
    }
}

/// The flags of commands, which are no settings: `--sandbox` of `larder serve`, `--junit` of `larder scenario run`.
struct CommandFlags: Sendable {
    /// The flags of the running command.
    let own: [String]
    /// The commands that have a flag, by its name: `larder serve --sandbox`.
    let commands: [String: [String]]

    /// Returns at most two command lines with a flag that the running command does not have; empty if no command has
    /// it.
    func elsewhere(_ flag: String) -> [String] {
        own.contains(flag) ? [] : Array((commands[flag] ?? []).prefix(2))
    }
}
