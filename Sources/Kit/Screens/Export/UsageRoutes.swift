package import Database
import HTTPTypes

/// `GET /v1/usage`: how much the account and the profile of a request have stored, and how much they may.
package struct UsageRoutes: Sendable {
    private let apps: [(name: String, data: UserData)]
    private let database: LarderDatabase
    private let sessions: SessionStore

    /// Creates the route.
    ///
    /// - Parameter apps: the apps with data of users, in the order of the screen.
    package init(apps: [(name: String, data: UserData)], database: LarderDatabase, sessions: SessionStore) {
        self.apps = apps
        self.database = database
        self.sessions = sessions
    }

    /// The route.
    package var routes: [Route] { [Route(.get, "/v1/usage", "usage", show).query("profile")] }

    @Sendable private func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let owners = try await apps.owners(request, profile: profile, sessions)
        // The reads of the apps join this transaction.
        var usages = try database.read { _ in
            try owners.map { app, owner in
                guard case .database(_, let usage) = app.data.source else { return AppUsage?.none }
                return try usage(owner)
            }
        }
        for (place, (app, owner)) in owners.enumerated() {
            guard case .sharedStore(_, let usage) = app.data.source else { continue }
            usages[place] = try await usage(owner)
        }
        let shown = zip(owners, usages).compactMap { owner, usage in
            usage.map { UsageScreen.App(owner.app.name, $0, profile: profile) }
        }
        return try ScreenResponse.local(UsageScreen(apps: shown), "usage", request).byProfile()
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
