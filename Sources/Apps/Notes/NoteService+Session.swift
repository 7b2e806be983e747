import Foundation
import HTTPTypes
import Screens
import Upstream

extension NoteService {
    /// `GET /v1/notes/launch`: the notes for whoever is logged in, the login for everybody else.
    @Sendable func launch(_ request: ScreenRequest) async throws -> ScreenResponse {
        var route = "main"
        do {
            _ = try sessions.session(for: request.headerFields, app: "notes")
        } catch let problem as Problem where problem.code.status == .unauthorized {
            route = "login"
        }
        return try local(
            NotesLaunchScreen(route: route),
            Meta(screen: "notes.launch", provenance: .local),
            Links(self: request.selfLink)
        )
    }

    /// `POST /v1/notes/session`: registers, or logs in.
    @Sendable func openSession(_ request: ScreenRequest) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let mode = try fields.string("mode")
        guard mode == "register" || mode == "login" else {
            throw Problem.validation([
                .field("/mode", mode == nil ? "required" : "invalid", "mode must be register or login.")
            ])
        }
        let (name, password) = try Self.credentials(fields)
        do {
            let account =
                try await mode == "register"
                ? register(name, password) : logIn(name, password, from: request.clientAddress)
            let session = Session(
                app: "notes",
                kind: .user,
                account: "\(account.id)",
                name: account.name,
                createdAt: clock.now()
            )
            let token = try await sessions.open(session)
            return try local(
                SessionScreen(session, token: token, route: "main"),
                Meta(screen: "notes.session", provenance: .local),
                Links(self: "/v1/notes/session"),
                status: .created,
                headerFields: [.location: "/v1/notes/session"]
            )
        } catch is PasswordHasher.Overloaded {
            throw Problem(
                .overloaded,
                "Too many logins at the same time; try again in a moment.",
                headerFields: [.retryAfter: "5"]
            )
        }
    }

    /// Name and password, every fault of both named; the dialog is that of the first.
    private static func credentials(_ fields: JSONFields) throws -> (UserName, Password) {
        var faults: [(error: Problem.FieldError, dialog: Problem.Dialog)] = []
        var name: UserName?
        var password: Password?
        let (givenName, givenPassword) = (try fields.string("username"), try fields.string("password"))
        do throws(UserName.Fault) {
            name = try UserName(givenName ?? "")
        } catch {
            switch error {
            case .tooShort:
                faults.append(
                    (.field("/username", "required", "username must have at least one character."), .nameTooShort)
                )
            case .invalid:
                faults.append(
                    (
                        .field(
                            "/username",
                            "invalid",
                            "username may have \(UserName.longest) bytes and no control characters."
                        ), .nameInvalid
                    )
                )
            }
        }
        do throws(Password.Fault) {
            password = try Password(givenPassword ?? "")
        } catch {
            switch error {
            case .tooShort:
                faults.append(
                    (.field("/password", "required", "password must have at least one character."), .passwordTooShort)
                )
            case .tooLong:
                faults.append(
                    (.field("/password", "too-long", "password may have \(Password.longest) bytes."), .passwordInvalid)
                )
            }
        }
        guard let name, let password else {
            throw Problem.validation(faults.map(\.error), dialog: faults.first?.dialog)
        }
        return (name, password)
    }

    private func register(_ name: UserName, _ password: Password) async throws -> NotesAccount {
        let taken = Problem(.nameTaken, "There is an account of this name.", dialog: .nameTaken)
        // Asked before the work of hashing; whoever is faster meanwhile is found out by the insertion.
        guard try store.account(name) == nil else { throw taken }
        guard let account = try await store.register(name, try await hasher.hash(password), now: clock.now()) else {
            throw taken
        }
        return account
    }

    private func logIn(_ name: UserName, _ password: Password, from address: String?) async throws -> NotesAccount {
        if case .refused(let seconds) = attempts.begin(account: name.key, address: address, now: clock.now()) {
            throw Problem(
                .rateLimited,
                "Too many wrong passwords; try again in \(seconds) seconds.",
                headerFields: [.retryAfter: "\(seconds)"]
            )
        }
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
            // Hashed when the setting was another one: now that the password is known, it can be hashed anew.
            try await store.replace(account.password, by: try await hasher.hash(password), of: account.id)
        }
        return account
    }

    /// `GET /v1/notes/session`.
    @Sendable func showSession(_ request: ScreenRequest) async throws -> ScreenResponse {
        let screen = SessionScreen(try request.requiredSession(), route: "main")
        return try local(
            screen,
            Meta(screen: "notes.session", provenance: .local),
            Links(self: request.selfLink),
            changeToken: .unlimited
        )
    }

    /// `DELETE /v1/notes/session`: ends the session, and nothing else.
    @Sendable func closeSession(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await sessions.close(for: request.headerFields)
        return try local(
            NotesFarewellScreen(),
            Meta(screen: "notes.session", provenance: .local),
            Links(self: request.selfLink)
        )
    }
}
