public import Database
import Foundation
public import Freshness
import HTTPSemantics
import HTTPTypes
import HummingbirdCore

/// `GET /v1/export`: the data of a user as one archive, of one state of the database.
public struct ExportRoutes: Sendable {
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
    public init(
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

    /// The route.
    public var routes: [Route] { [Route(.get, "/v1/export", "export", show).query("profile")] }

    @Sendable private func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let owners = try apps.map { app in
            let session = try sessions.knownSession(of: request.credentials, app: app.name)
            return (app, UserData.Owner(profile: profile, session: session))
        }
        let now = clock.now()
        let archive = ZipArchive(in: scratch, blobs: database.blobs, modified: now)
        var sections: [Manifest.Section] = []
        // The reads of the apps join this transaction.
        try database.read { _ in
            for (app, owner) in owners {
                let before = archive.paths.count
                guard let counts = try app.data.add(owner, archive) else { continue }
                let section = Manifest.Section(
                    app: app.name,
                    account: owner.session?.name,
                    counts: counts,
                    files: Array(archive.paths.dropFirst(before))
                )
                sections.append(section)
            }
        }
        let manifest = Manifest(larderVersion: version, createdAt: now, profile: profile, apps: sections)
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
