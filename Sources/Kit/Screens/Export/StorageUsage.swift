package import Cluster
import HTTPTypes
import Storage

/// `GET /v1/usage`: how much the account and the profile of a request have stored, and how much they may.
package struct UsageRoutes: Sendable {
    private let apps: [(name: String, data: UserData)]
    private let users: UserDatabase
    private let sessions: SessionStore

    /// - Parameter apps: the apps with data of users, in the order of the screen.
    package init(apps: [(name: String, data: UserData)], users: UserDatabase, sessions: SessionStore) {
        self.apps = apps
        self.users = users
        self.sessions = sessions
    }

    package var routes: [Route] { [Route(.get, "/v1/usage", "usage", show).query("profile")] }

    @Sendable private func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let owners = try await apps.owners(request, profile: profile, sessions)
        let banner = try await users.catchUp()?.banner
        // The reads of the apps join this transaction.
        let shown = try users.database.read { _ in
            try owners.compactMap { app, owner in
                try app.data.usage(owner).map { UsageScreen.App(app.name, $0, profile: profile) }
            }
        }
        return try ScreenResponse.local(UsageScreen(apps: shown), "usage", request, stale: banner).byProfile()
    }
}

extension [(name: String, data: UserData)] {
    /// Returns the apps with whose data a request asks for.
    func owners(_ request: ScreenRequest, profile: String, _ sessions: SessionStore) async throws
        -> [(app: Element, owner: UserData.Owner)]
    {
        var owners: [(app: Element, owner: UserData.Owner)] = []
        for app in self {
            let session = try await sessions.knownSession(of: request.credentials, app: app.name)
            owners.append((app, UserData.Owner(profile: profile, session: session)))
        }
        return owners
    }
}

/// The bytes that one account or profile has stored in an app, as its quota counts them.
package struct StorageUsage: Sendable, Equatable {
    package let bytes: Int
    package let trash: Int
    /// Bytes of drafts; nil in an app without drafts.
    package let drafts: Int?

    package init(bytes: Int, trash: Int, drafts: Int? = nil) {
        self.bytes = bytes
        self.trash = trash
        self.drafts = drafts
    }
}

/// The storage of an app in `GET /v1/usage`.
package struct AppUsage: Sendable {
    let title: Text
    let ownerName: String?
    let quota: StorageQuota
    let stored: StorageUsage
    let trash: Link

    /// Describes the storage of an owner in an app.
    ///
    /// - Parameters:
    ///   - title: the kind of data: `Notes`.
    ///   - ownerName: name of the account or the profile.
    ///   - trash: the screen of the trash.
    package init(_ title: Text, of ownerName: String?, _ stored: StorageUsage, quota: StorageQuota, trash: Link) {
        self.title = title
        self.ownerName = ownerName
        self.stored = stored
        self.quota = quota
        self.trash = trash
    }
}

/// The most bytes that one account or profile may store in an app, so that none fills the disk for all.
package struct StorageQuota: Sendable, Equatable {
    /// Whose data a quota is for.
    package enum Owner: Sendable, Equatable {
        /// An account of the app.
        case account
        case profile(String)

        /// The screen that shows the owner's data.
        var usage: Link {
            let path: Link = "/v1/usage"
            guard case .profile(let name) = self, name != "local" else { return path }
            return path.query("profile", name)
        }
    }

    package static let unlimited = StorageQuota(bytes: .max, of: .account)

    package let bytes: Int
    package let owner: Owner

    package init(bytes: Int, of owner: Owner) {
        self.bytes = bytes
        self.owner = owner
    }

    /// Checks that something can be added, before the work of making it.
    ///
    /// - Parameter least: Bytes of the smallest addition.
    /// - Throws: ``Problem`` 507 `quota-exceeded` if nothing can.
    package func checkRoom(beside usage: StorageUsage, of least: Int = 1) throws(Problem) {
        if refusal(beside: usage, of: least) != nil { throw exceeded(usage, by: nil) }
    }

    /// Returns why an action that adds something is disabled; nil if there is room.
    ///
    /// - Parameter least: Bytes of the smallest addition.
    package func refusal(beside usage: StorageUsage, of least: Int = 1) -> Text? {
        usage.bytes > bytes - least ? .quotaIsUsedUp : nil
    }

    /// Runs a change in its transaction. A change that does not make the data larger is never refused.
    ///
    /// - Parameters:
    ///   - usage: reads the stored amount.
    ///   - change: the change.
    /// - Throws: ``Problem`` 507 `quota-exceeded` if more is stored after it than before and than may be; errors of the
    ///   closures.
    package func holding<Value>(_ usage: () throws -> StorageUsage, _ change: () throws -> Value) throws -> Value {
        let before = try usage()
        let value = try change()
        let after = try usage()
        if after.bytes > bytes, after.bytes > before.bytes { throw exceeded(before, by: after.bytes - before.bytes) }
        return value
    }

    private func exceeded(_ usage: StorageUsage, by added: Int?) -> Problem {
        let detail = Text.quotaExceeded(self, usage, added: added)
        return Problem(
            .quotaExceeded,
            detail,
            dialog: Problem.Dialog(title: .quotaIsUsedUp, message: detail),
            href: owner.usage
        )
    }
}

/// `GET /v1/usage`.
struct UsageScreen: Encodable, Sendable {
    struct App: Encodable, Sendable {
        let app: String
        let title: Text
        /// `account` or `profile`.
        let owner: String
        /// Name of the account or the profile; null if the session has none.
        @Nullable var ownerName: String?
        let usedBytes: Int
        let usedText: Text
        let quotaBytes: Int
        let quotaText: Text
        /// Whether nothing can be added.
        let full: Bool
        let parts: [Part]
    }

    /// A part of the storage.
    struct Part: Encodable, Sendable {
        let part: String
        let title: Text
        let bytes: Int
        let bytesText: Text
        /// The screen that shows it; null if there is none.
        @Nullable var href: Link?
    }

    let apps: [App]
}

extension UsageScreen.App {
    /// - Parameter profile: that of the request; links name it where the app has profiles.
    init(_ app: String, _ usage: AppUsage, profile: String) {
        let (stored, quota) = (usage.stored, usage.quota)
        self.app = app
        title = usage.title
        ownerName = usage.ownerName
        usedBytes = stored.bytes
        usedText = .size(stored.bytes)
        quotaBytes = quota.bytes
        quotaText = .size(quota.bytes)
        full = stored.bytes >= quota.bytes
        let trash: Link
        switch quota.owner {
        case .account: (owner, trash) = ("account", usage.trash)
        case .profile:
            let target = usage.trash.requestTarget(in: Link.Profile(profile, of: app))
            (owner, trash) = ("profile", Link(encoded: target))
        }
        let drafts = stored.drafts.map { UsageScreen.Part("drafts", .notSavedYet, $0, nil) }
        parts = [UsageScreen.Part("trash", .trash, stored.trash, trash)] + (drafts.map { [$0] } ?? [])
    }
}

extension UsageScreen.Part {
    fileprivate init(_ part: String, _ title: Text, _ bytes: Int, _ href: Link?) {
        self.init(part: part, title: title, bytes: bytes, bytesText: .size(bytes), href: href)
    }
}
