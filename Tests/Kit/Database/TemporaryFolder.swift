public import Foundation

/// A folder of a test's own, removed with the value.
public final class TemporaryFolder: Sendable {
    /// The folder.
    public let url: URL

    /// Creates an empty folder.
    ///
    /// - Throws: the error of `FileManager` if that fails.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(
            path: "larder-test-\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Its path.
    public var path: String { url.path }
}
