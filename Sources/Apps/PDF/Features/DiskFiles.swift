public import Screens
public import Storage

/// The files of the Disk app, as far as this app uses them. The composition root connects the two apps, so that neither
/// imports the other.
public struct DiskFiles: Sendable {
    /// A file that was fetched.
    public struct Fetched: Sendable {
        /// Its name, with its extension.
        public var name: String
        /// Its bytes, in a scratch folder.
        public var file: ScratchFile
        /// The first bytes, at most 64.
        public var beginning: [UInt8]

        /// Describes a file.
        public init(name: String, file: ScratchFile, beginning: [UInt8]) {
            self.name = name
            self.file = file
            self.beginning = beginning
        }
    }

    /// The app whose session opens the Disk.
    public var app: String
    /// Downloads a file into `folder`. Throws ``Problem``, 413 if it has more than `maximumBytes`.
    public var fetch:
        @Sendable (_ path: String, _ session: Session, _ folder: ScratchFolder, _ maximumBytes: Int) async throws ->
            Fetched
    /// Uploads a file to a path and returns the path. Throws ``Problem``, 409 `target-exists` if the path is taken.
    public var put: @Sendable (_ path: String, _ session: Session, _ file: BlobReader) async throws -> String

    /// Creates the files of these functions.
    public init(
        app: String = "disk",
        fetch: @escaping @Sendable (String, Session, ScratchFolder, Int) async throws -> Fetched,
        put: @escaping @Sendable (String, Session, BlobReader) async throws -> String
    ) {
        self.app = app
        self.fetch = fetch
        self.put = put
    }
}
