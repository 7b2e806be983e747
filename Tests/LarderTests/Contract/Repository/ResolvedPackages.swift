import Foundation

/// A file of the form of Package.resolved.
struct ResolvedPackages: Decodable {
    /// A package with its version.
    struct Pin: Decodable {
        /// Where it is.
        struct State: Decodable {
            let version: String?
        }

        let identity: String
        let state: State
    }

    private let pins: [Pin]

    /// Versions by identity of the package.
    var versions: [String: String] { pins.reduce(into: [:]) { $0[$1.identity] = $1.state.version ?? "none" } }

    /// Reads a file.
    ///
    /// - Parameter path: relative to the root of the repository.
    static func read(_ path: String) throws -> ResolvedPackages {
        try JSONDecoder().decode(ResolvedPackages.self, from: Data(try Repository.text(path).utf8))
    }
}
