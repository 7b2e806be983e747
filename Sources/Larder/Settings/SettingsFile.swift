import Sandbox
import Settings
import Yams

/// Reads settings from a configuration file: a mapping of mappings, such as `http: {port: 8080}`. JSON is YAML.
enum SettingsFile {
    /// Most bytes that are read: a pipe may have no end.
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

    /// Says why a file cannot be read.
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

    /// Says where and why a text cannot be used.
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
        guard node.scalar != nil || setting.kind.isList else {
            throw .file(path: path, reason: "\(key) takes one value and no list")
        }
        values[key] = text == "null" || text == "~" ? "" : text
    }

    private static func text(of node: Node) -> String? {
        node.scalar?.string ?? node.sequence.map { $0.compactMap(\.scalar?.string).joined(separator: ",") }
    }
}
