package import Concurrency
import Foundation
import HTTP
import HTTPTypes
import HummingbirdCore
package import Storage

/// A user's own data in an app, for the archive (``ExportRoutes``), and its size (``UsageRoutes``).
package struct UserData: Sendable {
    package struct Owner: Sendable {
        /// The profile of the request.
        package let profile: String
        /// The session of the app that the request has; nil without one.
        package let session: Session?
    }

    /// The place of the data, and the closures that read it.
    enum Source: Sendable {
        /// In the server's own database: the reads of all apps are one transaction.
        case database(
            add: @Sendable (Owner, ZipArchive) throws -> [String: Int]?,
            usage: @Sendable (Owner) throws -> AppUsage?
        )
        /// In the store that servers share.
        case sharedStore(
            add: @Sendable (Owner, ZipArchive) async throws -> [String: Int]?,
            usage: @Sendable (Owner) async throws -> (usage: AppUsage?, banner: Banner?)
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
        self.init(sharedAdd: add) { (try await usage($0), nil) }
    }

    /// - Parameter usage: also returns the notification that it may be out of date; nil if it is not.
    package init(
        sharedAdd add: @escaping @Sendable (Owner, ZipArchive) async throws -> [String: Int]?,
        usageWithBanner usage: @escaping @Sendable (Owner) async throws -> (usage: AppUsage?, banner: Banner?)
    ) {
        source = .sharedStore(add: add, usage: usage)
    }
}

/// `GET /v1/export`: the data of a user as one archive, of one state of the server's own database.
package struct ExportRoutes: Sendable {
    /// `manifest.json` of an archive.
    struct Manifest: Encodable, Sendable {
        struct Section: Encodable, Sendable {
            let app: String
            /// Name of the account; null for the apps without accounts.
            @Nullable var account: String?
            let counts: [String: Int]
            let files: [String]
        }

        let format = "larder-export"
        let formatVersion = 1
        let larderVersion: String
        let createdAt: Date
        let profile: String
        let apps: [Section]
    }

    private let apps: [(name: String, data: UserData)]
    private let database: LarderDatabase
    private let sessions: SessionStore
    private let scratch: ScratchFolder
    private let version: String
    private let clock: WallClock

    /// Creates the route.
    ///
    /// - Parameter apps: the apps with data of users, in the order of the archive.
    package init(
        apps: [(name: String, data: UserData)],
        database: LarderDatabase,
        sessions: SessionStore,
        scratch: ScratchFolder,
        version: String,
        clock: WallClock
    ) {
        self.apps = apps
        self.database = database
        self.sessions = sessions
        self.scratch = scratch
        self.version = version
        self.clock = clock
    }

    package var routes: [Route] { [Route(.get, "/v1/export", "export", show).query("profile")] }

    @Sendable private func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let owners = try await apps.owners(request, profile: profile, sessions)
        let now = clock.now()
        let archive = ZipArchive(in: scratch, blobs: database.blobs, modified: now)
        var sections: [String: Manifest.Section] = [:]
        let list = { (app: String, owner: UserData.Owner, counts: [String: Int]?, before: Int) in
            guard let counts else { return }
            sections[app] = Manifest.Section(
                app: app,
                account: owner.session?.name,
                counts: counts,
                files: Array(archive.paths.dropFirst(before))
            )
        }
        // The reads of the apps join this transaction.
        try database.read { _ in
            for (app, owner) in owners {
                guard case .database(let add, _) = app.data.source else { continue }
                let before = archive.paths.count
                list(app.name, owner, try add(owner, archive), before)
            }
        }
        for (app, owner) in owners {
            guard case .sharedStore(let add, _) = app.data.source else { continue }
            let before = archive.paths.count
            list(app.name, owner, try await add(owner, archive), before)
        }
        let manifest = Manifest(
            larderVersion: version,
            createdAt: now,
            profile: profile,
            apps: apps.compactMap { sections[$0.name] }
        )
        // Its times change from request to request; HEAD and GET are to have one length.
        try archive.add(json: manifest, as: "manifest.json", level: 0)
        return response(archive, at: now)
    }

    private func response(_ archive: ZipArchive, at now: Date) -> ScreenResponse {
        var fields: HTTPFields = [.cacheControl: "private, no-store", .contentSecurityPolicy: "sandbox"]
        let fileName = "larder-\(WireFormat.timestamp(now).prefix(10)).zip"
        fields[.contentDisposition] = ContentDisposition.value("attachment", fileName: fileName)
        fields.vary(on: .authorization)
        fields.vary(on: .cookie)
        let body = ScreenResponse.Body.stream(type: "application/zip", archive.finished().body)
        return ScreenResponse(headerFields: fields, body: body, hasValidator: false).byProfile()
    }
}
