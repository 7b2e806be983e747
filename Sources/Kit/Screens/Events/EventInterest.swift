import Foundation

/// What a listener of the event stream gets: the events for all, those of the apps that it asks for, of the accounts
/// of its sessions, and of its profile.
struct EventInterest: Sendable {
    /// The audiences that it belongs to.
    let audiences: Set<ServerEvent.Audience>
    /// The apps of its sessions by the hashes of their tokens; with the first one that ends, the stream does.
    let sessionApps: [Data: String]
    private let sessions: SessionStore

    /// Reads what a request asks for.
    ///
    /// - Parameter apps: names of the apps that are served.
    /// - Throws: ``Problem`` 400 for an app that is not served or a name that is no profile's; 401 if the token opens
    ///   no session; `StorageError`, `SharedStoreError`.
    init(_ request: ScreenRequest, apps: [String], sessions: SessionStore) async throws {
        let apps = try Self.apps(request, among: apps)
        let profile = try request.profile()
        var audiences: Set<ServerEvent.Audience> = [.everyone]
        for app in apps { audiences.formUnion([.app(app), .profile(app: app, profile: profile)]) }
        let found = try await Self.sessions(of: request.credentials, apps, sessions)
        for session in found.values where apps.contains(session.app) {
            audiences.insert(.account(app: session.app, account: session.account))
        }
        sessionApps = found.mapValues(\.app)
        self.audiences = audiences
        self.sessions = sessions
    }

    /// Returns the sessions of a request: that of `Authorization`, and those of its cookies for other apps. A cookie
    /// that opens none is ignored, since its page may have other sessions.
    private static func sessions(
        of credentials: SessionCredentials,
        _ apps: [String],
        _ store: SessionStore
    ) async throws -> [Data: Session] {
        var found: [Data: Session] = [:]
        if let hash = try credentials.bearerHash() {
            guard let session = try await store.session(tokenHash: hash) else {
                throw Problem(.sessionExpired, "This token opens no session.")
            }
            found[hash] = session
        }
        let bearerApp = found.values.first?.app
        for app in apps where app != bearerApp {
            guard let hash = try? credentials.cookieHash(of: app),
                let session = try await store.session(tokenHash: hash), session.app == app
            else { continue }
            found[hash] = session
        }
        return found
    }

    /// The app that `app` names, else all.
    private static func apps(_ request: ScreenRequest, among apps: [String]) throws -> [String] {
        guard let app = try request.query.string("app") else { return apps }
        guard apps.contains(app) else {
            throw Problem.invalidParameter("app", accepted: "must be one of \(apps.sorted().joined(separator: ", "))")
        }
        return [app]
    }

    /// Returns the app of a session that has ended; nil if all are open. A stream lasts long: what is stored counts,
    /// whether or not the end of the session was announced.
    ///
    /// - Throws: `StorageError`, `SharedStoreError`.
    func endedApp() async throws -> String? {
        for (hash, app) in sessionApps where try await sessions.storedSession(hash) == nil { return app }
        return nil
    }
}
