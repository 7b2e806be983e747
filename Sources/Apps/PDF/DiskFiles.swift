public import Screens
public import Storage

/// What the app may do with the files of a Disk. Another app has them; the composition root brings the two together, so
/// that neither knows the other.
public struct DiskFiles: Sendable {
    /// A file that was fetched.
    public struct Fetched: Sendable {
        /// Its name, with its extension.
        public var name: String
        /// Where its bytes are now.
        public var file: ScratchFile
        /// The first of them, 64 at most.
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
    /// Fetches the file of a path to `folder`; not more than so many bytes of it. Throws a `Problem` where it cannot,
    /// 413 where it is too large.
    public var fetch:
        @Sendable (_ path: String, _ session: Session, _ folder: ScratchFolder, _ maximumBytes: Int) async throws ->
            Fetched
    /// Puts a file at a path where nothing is, and gives the path. Throws a `Problem` where it cannot, 409
    /// `target-exists` where something is there.
    public var put: @Sendable (_ path: String, _ session: Session, _ file: BlobReader) async throws -> String

    /// A Disk of functions.
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
