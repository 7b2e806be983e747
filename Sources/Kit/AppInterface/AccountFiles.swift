package import Database
package import Screens

/// Files of accounts by path, which one app offers to the others. Neither app knows the other.
package struct AccountFiles: Sendable {
    /// A file that was fetched.
    package struct Fetched: Sendable {
        /// Its name with its extension.
        package let name: String
        /// Its bytes.
        package let file: ScratchFile
        /// The first of them, at most ``AccountFiles/beginningBytes``.
        package let beginning: [UInt8]

        /// Describes a file.
        package init(name: String, file: ScratchFile, beginning: [UInt8]) {
            self.name = name
            self.file = file
            self.beginning = beginning
        }
    }

    /// Bytes of ``Fetched/beginning``: enough to recognise a format.
    package static let beginningBytes = 64

    /// Fetches a file to a folder. Throws a `Problem` or `UpstreamFailure` if that fails, 413 if the file is larger
    /// than `maximumBytes`.
    package typealias Fetch =
        @Sendable (_ path: String, _ session: Session, _ folder: ScratchFolder, _ maximumBytes: Int) async throws ->
        Fetched
    /// Stores a PDF at a free path and returns the path. Throws a `Problem` or `UpstreamFailure` if that
    /// fails, 409 `target-exists` if something is there.
    package typealias Store =
        @Sendable (_ path: String, _ session: Session, _ file: FileContent) async throws -> String

    /// Name of the app whose sessions have files.
    package let app: String
    /// Fetches a file.
    package let fetch: Fetch
    /// Stores a file.
    package let store: Store

    /// Offers files.
    package init(app: String, fetch: @escaping Fetch, store: @escaping Store) {
        self.app = app
        self.fetch = fetch
        self.store = store
    }
}
