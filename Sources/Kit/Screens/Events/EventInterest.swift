import Foundation

/// What a listener of the event stream hears: the events for all, those of the apps that it asks for, of the account of
/// its session, and of its profile.
struct EventInterest: Sendable {
    /// The audiences that it belongs to.
    let audiences: Set<ServerEvent.Audience>
    /// Hash of the token of its session, with which the stream ends.
    let tokenHash: Data?
    private let sessions: SessionStore

    /// Reads what a request asks for.
    ///
    /// - Parameter apps: names of the apps that are served.
    /// - Throws: ``Problem`` 400 for an app that is not served or a name that is no profile's; 401 if the token opens
    ///   no session; `StorageError`.
    init(_ request: ScreenRequest, apps: [String], sessions: SessionStore) throws {
        let apps = try Self.apps(request, among: apps)
        let profile = try request.profileOfListener()
        var audiences: Set<ServerEvent.Audience> = [.everyone]
        for app in apps { audiences.formUnion([.app(app), .profile(app: app, profile: profile)]) }
        tokenHash = try request.credential.tokenHash
        if let tokenHash {
            guard let session = try sessions.session(tokenHash: tokenHash) else {
                throw Problem(.sessionExpired, "This token opens no session.")
            }
            if apps.contains(session.app) {
                audiences.insert(.account(app: session.app, account: session.account))
            }
        }
        self.audiences = audiences
        self.sessions = sessions
    }

    /// The app that `app` names, else all.
    private static func apps(_ request: ScreenRequest, among apps: [String]) throws -> [String] {
        guard let app = try request.query.string("app") else { return apps }
        guard apps.contains(app) else {
            throw Problem.invalidParameter("app", accepted: "must be one of \(apps.sorted().joined(separator: ", "))")
        }
        return [app]
    }

    /// Whether the session is still open; always true without one. A stream lasts long: what is stored counts, whether
    /// or not the end of the session was announced.
    ///
    /// - Throws: `StorageError`.
    func isOpen() throws -> Bool {
        try tokenHash.map { try sessions.storedSession($0) != nil } ?? true
    }
}
