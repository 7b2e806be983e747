public import Database
import HTTPTypes

/// `GET /v1/usage`: how much the account and the profile of a request have stored, and how much they may.
public struct UsageRoutes: Sendable {
    private let apps: [(name: String, data: UserData)]
    private let database: LarderDatabase
    private let sessions: SessionStore

    /// Creates the route.
    ///
    /// - Parameter apps: the apps with data of users, in the order of the screen.
    public init(apps: [(name: String, data: UserData)], database: LarderDatabase, sessions: SessionStore) {
        self.apps = apps
        self.database = database
        self.sessions = sessions
    }

    /// The route.
    public var routes: [Route] { [Route(.get, "/v1/usage", "usage", show).query("profile")] }

    @Sendable private func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let owners = try apps.map { app in
            let session = try sessions.knownSession(of: request.credentials, app: app.name)
            return (app, UserData.Owner(profile: profile, session: session))
        }
        // The reads of the apps join this transaction.
        let shown = try database.read { _ in
            try owners.compactMap { app, owner in
                try app.data.usage(owner).map { UsageScreen.App(app.name, $0, profile: profile) }
            }
        }
        return try ScreenResponse.local(UsageScreen(apps: shown), "usage", request).byProfile()
    }
}
