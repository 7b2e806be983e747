import AppInterface
import Foundation
import Settings

/// The settings `node.*`: this process among others that serve the same clients.
struct NodeConfiguration: Sendable {
    /// Its name in status, log and metrics; nil for a process that has none.
    let name: String?
    /// The apps that it serves, of those that Larder is made of.
    let apps: AppList

    /// Reads the settings.
    ///
    /// - Parameter all: The apps that Larder is made of.
    /// - Throws: `SettingError` for an app that does not exist, and for a name that is no word.
    init(_ settings: SettingValues, all: AppList) throws(SettingError) {
        let name = try settings.text("node.name")
        let isName =
            name.utf8.count <= 64
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
        guard isName else {
            throw .unacceptable(
                key: "node.name",
                value: name,
                source: "settings",
                accepted: "at most 64 letters, digits, dots, hyphens and underscores"
            )
        }
        self.name = name.isEmpty ? nil : name
        let names = try settings.list("node.apps")
        let known = all.types.map { $0.name }
        if let unknown = names.first(where: { !known.contains($0) }) {
            throw .unacceptable(
                key: "node.apps",
                value: unknown,
                source: "settings",
                accepted: known.joined(separator: ", ") + ", separated by commas, or nothing for all of them"
            )
        }
        apps = names.isEmpty ? all : AppList(all.types.filter { names.contains($0.name) })
    }

    /// Returns what other processes serve.
    ///
    /// - Parameter all: The apps that Larder is made of.
    /// - Returns: Names of apps, and of upstreams that only those apps use.
    func elsewhere(of all: AppList) -> (apps: Set<String>, upstreams: Set<String>) {
        let served = Set(apps.types.map { $0.name })
        let others = all.types.filter { !served.contains($0.name) }
        let used = Set(apps.upstreams.map(\.name))
        return (Set(others.map { $0.name }), Set(others.flatMap { $0.upstreams }.map(\.name)).subtracting(used))
    }
}
