package import Foundation

/// A folder of a test's own, removed with the value.
package final class TemporaryFolder: Sendable {
    /// The folder.
    package let url: URL

    private init(url: URL) { self.url = url }

    /// Creates an empty folder.
    package convenience init() throws {
        self.init(url: Self.unused)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// Returns a path without a folder. A folder that a test creates there is removed with the value.
    package static func unmade() -> TemporaryFolder { TemporaryFolder(url: unused) }

    private static var unused: URL {
        FileManager.default.temporaryDirectory.appending(
            path: "larder-test-\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package var path: String { url.path }

    /// Writes a file that its owner alone may read, as keys have to be.
    ///
    /// - Returns: Its path.
    @discardableResult
    package func writePrivately(_ name: String, _ bytes: Data) throws -> String {
        let file = url.appending(path: name)
        try bytes.write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return file.path
    }
}
