/// What an app adds to the archive of a user's own data (``ExportRoutes``).
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

    /// Describes the data of an app.
    public init(add: @escaping @Sendable (Owner, ZipArchive) throws -> [String: Int]?) { self.add = add }
}
