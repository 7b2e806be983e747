import Foundation

/// Location of the data (XDG Base Directory Specification).
struct DataLocation {
    let environment: [String: String]
    let isSandbox: Bool
    var isHarness = false

    /// Returns the directory that is configured, else `$XDG_DATA_HOME/larder`, else `~/.local/share/larder`;
    /// `larder-sandbox` with the sandbox, `larder-harness` with a harness and real upstreams.
    func url(_ configured: String) -> URL {
        if !configured.isEmpty { return URL(filePath: configured, directoryHint: .isDirectory) }
        let name = isSandbox ? "larder-sandbox" : isHarness ? "larder-harness" : "larder"
        if let base = environment["XDG_DATA_HOME"], base.hasPrefix("/") {
            return URL(filePath: base).appending(path: name)
        }
        let home = environment["HOME"].map { URL(filePath: $0) } ?? FileManager.default.homeDirectoryForCurrentUser
        return home.appending(path: ".local/share/\(name)")
    }
}
