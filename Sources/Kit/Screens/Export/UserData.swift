package import Cluster
package import Concurrency
import Foundation
import HTTP
import HTTPTypes
import HummingbirdCore
import NIOCore
package import Storage

/// A user's own data in an app, for the archive (``ExportRoutes``), and its size (``UsageRoutes``).
package struct UserData: Sendable {
    package struct Owner: Sendable {
        package let profile: String
        /// The session of the app that the request has; nil without one.
        package let session: Session?
    }

    let add: @Sendable (Owner, ZipArchive) throws -> [String: Int]?
    let usage: @Sendable (Owner) throws -> AppUsage?

    /// Describes the data of an app. Both closures run within a read transaction.
    ///
    /// - Parameters:
    ///   - add: Adds files, and returns the number of items of each kind in them; nil if the owner has none in this
    ///     app.
    ///   - usage: Returns how much the owner has stored; nil if that has no quota, or without the session that names
    ///     the owner.
    package init(
        add: @escaping @Sendable (Owner, ZipArchive) throws -> [String: Int]?,
        usage: @escaping @Sendable (Owner) throws -> AppUsage? = { _ in nil }
    ) {
        (self.add, self.usage) = (add, usage)
    }
}

/// `GET /v1/export`: the data of a user as one archive, of one state.
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
    private let users: UserDatabase
    private let sessions: SessionStore
    private let scratch: ScratchFolder
    private let version: String
    private let clock: WallClock

    /// - Parameter apps: the apps with data of users, in the order of the archive.
    package init(
        apps: [(name: String, data: UserData)],
        users: UserDatabase,
        sessions: SessionStore,
        scratch: ScratchFolder,
        version: String,
        clock: WallClock
    ) {
        self.apps = apps
        self.users = users
        self.sessions = sessions
        self.scratch = scratch
        self.version = version
        self.clock = clock
    }

    package var routes: [Route] { [Route(.get, "/v1/export", "export", show).query("profile")] }

    /// How often an archive is begun if another server deletes a file that this one lacks.
    private static let attempts = 3

    @Sendable private func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let owners = try await apps.owners(request, profile: profile, sessions)
        let now = clock.now()
        var attempt = 1
        while true {
            // An archive cannot say how old its data may be.
            if let lag = try await users.catchUp() { throw lag.reason }
            do {
                return response(try await archive(of: owners, profile: profile, at: now), at: now)
            } catch StorageError.blobUnavailable where users.isShared && attempt < Self.attempts {
                attempt += 1
            }
        }
    }

    private func archive(
        of owners: [(app: (name: String, data: UserData), owner: UserData.Owner)],
        profile: String,
        at now: Date
    ) async throws -> ZipArchive {
        let archive = ZipArchive(in: scratch, blobs: users.database.blobs, modified: now)
        // The reads of the apps join this transaction.
        let sections = try users.database.read { _ in
            try owners.compactMap { app, owner in
                let before = archive.paths.count
                return try app.data.add(owner, archive).map { counts in
                    let files = Array(archive.paths.dropFirst(before))
                    return Manifest.Section(app: app.name, account: owner.session?.name, counts: counts, files: files)
                }
            }
        }
        try await archive.open {
            FileContent(try await users.content($0), of: $0, type: "application/octet-stream", version: "")
        }
        let manifest = Manifest(larderVersion: version, createdAt: now, profile: profile, apps: sections)
        // Its times differ between requests. Without compression, it has the same length for HEAD and GET.
        try archive.add(json: manifest, as: "manifest.json", level: 0)
        return archive
    }

    private func response(_ archive: ZipArchive, at now: Date) -> ScreenResponse {
        let fileName = "larder-\(WireFormat.timestamp(now).prefix(10)).zip"
        return ScreenResponse.download(archive.finished().body, type: "application/zip", fileName: fileName).byProfile()
    }
}

extension ScreenResponse {
    /// Responds with data of a user as a file to be saved, which is made for this request.
    static func download(_ body: ResponseBody, type: String, fileName: String) -> ScreenResponse {
        var fields: HTTPFields = [.cacheControl: "private, no-store", .contentSecurityPolicy: "sandbox"]
        fields[.contentDisposition] = ContentDisposition.value("attachment", fileName: fileName)
        fields.vary(on: .authorization)
        fields.vary(on: .cookie)
        return ScreenResponse(headerFields: fields, body: .stream(type: type, body), hasValidator: false)
    }

    /// Responds with a file of this request, which is removed when it is sent.
    package static func download(_ file: ScratchFile, type: String, fileName: String) -> ScreenResponse {
        let (place, length) = (file.place, file.length)
        let body = ResponseBody(contentLength: length) { writer in
            try await place.forEachChunk(of: length) { try await writer.write(ByteBuffer(bytes: $0)) }
            try await writer.finish(nil)
        }
        return download(body, type: type, fileName: fileName)
    }
}
