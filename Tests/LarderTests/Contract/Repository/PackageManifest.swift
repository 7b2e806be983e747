import Foundation
import Subprocess
import TestKit

/// The contents of Package.swift, in SwiftPM's own JSON.
struct PackageManifest: Decodable {
    /// SwiftPM refuses the manifest.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// A module, an executable or a set of tests.
    struct Target: Decodable {
        let name: String
        let type: String
        /// The file that names the flags of a system library; nil for other targets and for the C library's headers.
        let pkgConfig: String?
        private let path: String?
        private let dependencies: [Dependency]

        /// Folder of its sources, relative to the root of the repository.
        var folder: String { path ?? (type == "test" ? "Tests" : "Sources") + "/\(name)" }

        /// Modules that it may import: each product of this package's dependencies has a module of the same name.
        var modules: Set<String> { Set(dependencies.map(\.name)) }
    }

    /// `{"byName": [name, …]}`, `{"target": [name, …]}` or `{"product": [name, package, …]}`.
    struct Dependency: Decodable {
        let name: String

        init(from decoder: any Decoder) throws {
            let kinds = try decoder.singleValueContainer().decode([String: [FirstText]].self)
            guard kinds.count == 1, let name = kinds.values.first?.first?.text else {
                throw Unreadable(description: "a dependency of a kind that this test does not know: \(kinds)")
            }
            self.name = name
        }
    }

    /// An element of a list that holds texts and other values.
    struct FirstText: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
    }

    /// Another package, from a repository.
    struct Package: Decodable {
        /// The versions that are accepted.
        struct Requirement: Decodable {
            let exact: [String]?
        }

        /// A git repository.
        struct SourceControl: Decodable {
            let identity: String
            let requirement: Requirement
        }

        let sourceControl: [SourceControl]
    }

    let targets: [Target]
    private let dependencies: [Package]

    /// The packages that it names.
    var packages: [Package.SourceControl] { dependencies.flatMap(\.sourceControl) }

    private static let loaded = Task { try await read() }

    /// Returns the manifest, which is read once.
    static func load() async throws -> PackageManifest { try await loaded.value }

    /// Reads the manifest, in a build folder of its own: `swift test` holds the lock of the usual one.
    private static func read() async throws -> PackageManifest {
        let scratch = try TemporaryFolder()
        defer { withExtendedLifetime(scratch) {} }
        let paths = ["--package-path", Repository.root.path, "--scratch-path", scratch.path]
        let result = try await run(
            .name("swift"),
            arguments: Arguments(["package"] + paths + ["dump-package"]),
            output: .bytes(limit: 16 << 20),
            error: .string(limit: 1 << 20)
        )
        guard result.terminationStatus.isSuccess else { throw Unreadable(description: result.standardError) }
        return try JSONDecoder().decode(PackageManifest.self, from: Data(result.standardOutput))
    }
}

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
