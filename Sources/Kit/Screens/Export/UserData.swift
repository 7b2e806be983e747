/// What an app has of a user's own data: for the archive (``ExportRoutes``), and how much it is (``UsageRoutes``).
package struct UserData: Sendable {
    /// Whose data it is.
    package struct Owner: Sendable {
        /// The profile of the request.
        package let profile: String
        /// The session of the app that the request has; nil without one.
        package let session: Session?
    }

    /// Where the data is, and what reads it there.
    enum Source: Sendable {
        /// In the server's own database: the reads of all apps are one transaction.
        case database(
            add: @Sendable (Owner, ZipArchive) throws -> [String: Int]?,
            usage: @Sendable (Owner) throws -> AppUsage?
        )
        /// In the store that servers share.
        case sharedStore(
            add: @Sendable (Owner, ZipArchive) async throws -> [String: Int]?,
            usage: @Sendable (Owner) async throws -> AppUsage?
        )
    }

    let source: Source

    /// Describes the data of an app in the server's own database.
    ///
    /// - Parameters:
    ///   - add: adds files, and returns how many things of each kind they hold; nil if the owner has none in this app.
    ///     It runs within the read transaction of the archive.
    ///   - usage: returns how much the owner has stored; nil if that has no quota, or without the session that says
    ///     whose it is. It runs within a read transaction.
    package init(
        add: @escaping @Sendable (Owner, ZipArchive) throws -> [String: Int]?,
        usage: @escaping @Sendable (Owner) throws -> AppUsage? = { _ in nil }
    ) {
        source = .database(add: add, usage: usage)
    }

    /// Describes the data of an app in the store that servers share.
    ///
    /// - Parameters:
    ///   - add: adds files, and returns how many things of each kind they hold; nil if the owner has none in this app.
    ///   - usage: returns how much the owner has stored; nil if that has no quota, or without the session that says
    ///     whose it is.
    package init(
        sharedAdd add: @escaping @Sendable (Owner, ZipArchive) async throws -> [String: Int]?,
        usage: @escaping @Sendable (Owner) async throws -> AppUsage?
    ) {
        source = .sharedStore(add: add, usage: usage)
    }
}
