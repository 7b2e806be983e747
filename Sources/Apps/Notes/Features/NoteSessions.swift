import Foundation
import Freshness
import HTTPTypes
import Screens

/// Registration, login and logout.
struct NoteSessions: Sendable {
    let store: NoteStore
    let sessions: SessionStore
    let hasher: PasswordHasher
    let attempts: LoginGate
    let clock: WallClock

    /// `GET /v1/notes/launch`: the notes with a session, the login without one.
    @Sendable func launch(_ request: ScreenRequest) async throws -> ScreenResponse {
        let session = try sessions.knownSession(of: request.credential, app: NotesApp.name)
        return try .local(LaunchScreen(route: session == nil ? "login" : "main"), "notes.launch", request)
    }

    /// `POST /v1/notes/session`: registers, or logs in.
    @Sendable func open(_ request: ScreenRequest) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let mode = try fields.string("mode")
        guard mode == "register" || mode == "login" else {
            throw Problem.validation([
                .field("/mode", mode == nil ? "required" : "invalid", "mode must be register or login.")
            ])
        }
        let (name, password) = try NoteCredentials.read(fields)
        do {
            let account =
                try await mode == "register"
                ? register(name, password) : logIn(name, password, from: request.clientAddress)
            return try await openSession(of: account, request)
        } catch is PasswordHasher.Overloaded {
            throw Problem(
                .overloaded,
                "Too many logins at the same time; try again in a moment.",
                headerFields: [.retryAfter: "5"]
            )
        }
    }

    private func openSession(of account: NoteAccount, _ request: ScreenRequest) async throws -> ScreenResponse {
        let session = Session(
            app: NotesApp.name,
            kind: .user,
            account: "\(account.id)",
            name: account.name,
            createdAt: clock.now()
        )
        let token = try await sessions.open(session)
        return try .local(
            SessionScreen(session, token: token, route: "main"),
            "notes.session",
            request,
            status: .created,
            selfLink: "/v1/notes/session",
            headerFields: [.location: "/v1/notes/session"]
        )
    }

    private func register(_ name: UserName, _ password: Password) async throws -> NoteAccount {
        let taken = Problem(.nameTaken, "There is an account of this name.", dialog: .nameTaken)
        // Checked before the work of hashing; the insertion finds a registration that was faster.
        guard try store.account(name) == nil else { throw taken }
        guard let account = try await store.register(name, try await hasher.hash(password), now: clock.now()) else {
            throw taken
        }
        return account
    }

    private func logIn(_ name: UserName, _ password: Password, from address: String?) async throws -> NoteAccount {
        try begin(name, from: address)
        let account = try store.account(name)
        let isRight: Bool
        do {
            isRight = try await hasher.verify(password, against: account?.password)
        } catch {
            attempts.abandoned(account: name.key, address: address)
            throw error
        }
        guard let account else {
            throw Problem(.invalidCredentials, "There is no account of this name.", dialog: .nameNotFound)
        }
        guard isRight else {
            throw Problem(.invalidCredentials, "The password is not that of the account.", dialog: .passwordInvalid)
        }
        attempts.succeeded(account: name.key, address: address)
        if account.password.cost != hasher.cost {
            // Hashed under another setting: now that the password is known, it can be hashed again.
            try await store.replace(account.password, by: try await hasher.hash(password), of: account.id)
        }
        return account
    }

    /// Takes an attempt to log in.
    ///
    /// - Throws: ``Problem``, 429 with the time to wait if none is left.
    private func begin(_ name: UserName, from address: String?) throws {
        guard case .refused(let seconds) = attempts.begin(account: name.key, address: address, now: clock.now()) else {
            return
        }
        throw Problem(
            .rateLimited,
            "Too many wrong passwords; try again in \(seconds) seconds.",
            headerFields: [.retryAfter: "\(seconds)"]
        )
    }

    /// `GET /v1/notes/session`.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        try .local(SessionScreen(session, route: "main"), "notes.session", request, changeToken: .unlimited)
    }

    /// `DELETE /v1/notes/session`: ends the session.
    @Sendable func close(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        try await sessions.close(request.credential)
        return try .local(FarewellScreen(), "notes.session", request)
    }
}
