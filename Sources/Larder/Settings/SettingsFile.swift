import Foundation
import Settings
import Yams

/// Reads settings from a configuration file: a mapping of mappings, such as `http: {port: 8080}`. JSON is YAML.
enum SettingsFile {
    /// Returns the values of a file by key.
    /// - Throws: `SettingError` if it cannot be read, or has a name that is no setting.
    static func entries(_ path: String, _ catalogue: SettingCatalogue) throws(SettingError) -> [String: String] {
        let root: Node?
        do {
            root = try Yams.compose(yaml: String(contentsOfFile: path, encoding: .utf8))
        } catch {
            let reason = error is YamlError ? "\(error)" : error.localizedDescription
            throw .file(path: path, reason: "it cannot be read as YAML or JSON: \(reason)")
        }
        var values: [String: String] = [:]
        if let root { try collect(root, key: "", path: path, catalogue, into: &values) }
        return values
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
                let name = child.string ?? ""
                try collect(value, key: key.isEmpty ? name : "\(key).\(name)", path: path, catalogue, into: &values)
            }
            return
        }
        guard catalogue.setting(key: key) != nil else {
            throw .unknown(key, source: "configuration file \(path)", among: catalogue.all.map(\.key))
        }
        guard let text = text(of: node) else {
            throw .file(path: path, reason: "\(key) must be a word, a number or a list of words")
        }
        values[key] = text == "null" || text == "~" ? "" : text
    }

    private static func text(of node: Node) -> String? {
        node.scalar?.string ?? node.sequence.map { $0.compactMap(\.scalar?.string).joined(separator: ",") }
    }
}
