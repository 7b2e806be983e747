/// What an app has of a user's own data: for the archive (``ExportRoutes``), and how much it is (``UsageRoutes``).
public struct UserData: Sendable {
    /// Whose data it is.
    public struct Owner: Sendable {
        /// The profile of the request.
        public let profile: String
        /// The session of the app that the request has; nil without one.
        public let session: Session?
    }

    /// Adds files, and returns how many things of each kind they hold; nil if the owner has none in this app. It runs
    /// within the read transaction of the archive.
    public let add: @Sendable (Owner, ZipArchive) throws -> [String: Int]?

    /// Returns how much the owner has stored; nil if that has no quota, or without the session that says whose it is.
    /// It runs within a read transaction.
    public let usage: @Sendable (Owner) throws -> AppUsage?

    /// Describes the data of an app.
    public init(
        add: @escaping @Sendable (Owner, ZipArchive) throws -> [String: Int]?,
        usage: @escaping @Sendable (Owner) throws -> AppUsage? = { _ in nil }
    ) {
        self.add = add
        self.usage = usage
    }
}
