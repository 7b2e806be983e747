public import Database
public import Screens

/// Files of accounts by path, which one app offers to the others. Neither app knows the other.
public struct AccountFiles: Sendable {
    /// A file that was fetched.
    public struct Fetched: Sendable {
        /// Its name with its extension.
        public let name: String
        /// Its bytes.
        public let file: ScratchFile
        /// The first of them, at most ``AccountFiles/beginningBytes``.
        public let beginning: [UInt8]

        /// Describes a file.
        public init(name: String, file: ScratchFile, beginning: [UInt8]) {
            self.name = name
            self.file = file
            self.beginning = beginning
        }
    }

    /// Bytes of ``Fetched/beginning``: enough to recognise a format.
    public static let beginningBytes = 64

    /// Fetches a file to a folder. Throws a `Problem` or `UpstreamFailure` if that fails, 413 if the file is larger
    /// than `maximumBytes`.
    public typealias Fetch =
        @Sendable (_ path: String, _ session: Session, _ folder: ScratchFolder, _ maximumBytes: Int) async throws ->
        Fetched
    /// Stores a PDF at a free path and returns the path. Throws a `Problem` or `UpstreamFailure` if that
    /// fails, 409 `target-exists` if something is there.
    public typealias Store =
        @Sendable (_ path: String, _ session: Session, _ file: FileContent) async throws -> String

    /// Name of the app whose sessions have files.
    public let app: String
    /// Fetches a file.
    public let fetch: Fetch
    /// Stores a file.
    public let store: Store

    /// Offers files.
    public init(app: String, fetch: @escaping Fetch, store: @escaping Store) {
        self.app = app
        self.fetch = fetch
        self.store = store
    }
}
