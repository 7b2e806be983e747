import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage

/// Registration, login and logout.
struct NoteSessions: Sendable {
    let app: Notes

    /// `GET /v1/notes/launch`: the notes with a session, the login without one.
    @Sendable func launch(_ request: ScreenRequest) async throws -> ScreenResponse {
        let session = try await app.sessions.knownSession(of: request.credentials, app: NotesApp.name)
        let route: ScreenLink = session == nil ? .login(to: NotesApp.name) : .noteList
        return try .local(LaunchScreen(route: route, logins: NotesApp.logins), "notes.launch", request)
    }

    /// `POST /v1/notes/session`: registers, or logs in.
    @Sendable func open(_ request: ScreenRequest) async throws -> ScreenResponse {
        let carrier = try request.sessionCarrier()
        let fields = try await request.jsonObject()
        let mode = try fields.string("mode")
        guard mode == "register" || mode == "login" else {
            throw Problem.validation([
                .field("/mode", mode == nil ? "required" : "invalid", "mode must be register or login.")
            ])
        }
        var credentials = NoteCredentials(fields)
        let (name, password) = (try credentials.name(isNew: mode == "register"), try credentials.password())
        guard let name, let password else { throw credentials.problem }
        // There is no session yet that a version could be of.
        try request.writePreconditions().check(version: nil, of: "The session")
        let account =
            try await mode == "register"
            ? register(name, password, request) : logIn(name, password, request)
        return try await openSession(of: account, carrier, request)
    }

    private func openSession(of account: NoteAccount, _ carrier: SessionCarrier, _ request: ScreenRequest) async throws
        -> ScreenResponse
    {
        let session = account.session(at: app.clock.now())
        let token: String
        do {
            token = try await app.store.open(session, of: account, for: carrier, in: app.sessions)
        } catch is NoteStore.AccountChanged {
            throw Problem(.invalidCredentials, "The password was changed meanwhile.", dialog: .passwordInvalid)
        }
        let grant = SessionGrant(token, carrier)
        return try ScreenResponse.local(
            SessionScreen(session, token: grant, route: .noteList),
            "notes.session",
            request,
            status: .created,
            selfLink: "/v1/notes/session",
            headerFields: [.location: "/v1/notes/session"]
        ).granting(grant, of: NotesApp.name, .lasting, request)
    }

    private func register(_ name: UserName, _ password: Password, _ request: ScreenRequest) async throws
        -> NoteAccount
    {
        let taken = Problem(.nameTaken, "There is an account of this name.", dialog: .nameTaken)
        // Checked before the work of hashing; the insertion finds a registration that was faster.
        _ = try await app.store.users.catchUpSinceStart()
        guard try !app.store.isTaken(name) else { throw taken }
        let hash = try await app.passwords.hash(password, for: request)
        guard let account = try await app.store.register(name, hash, now: app.clock.now()) else { throw taken }
        return account
    }

    private func logIn(_ name: UserName, _ password: Password, _ request: ScreenRequest) async throws -> NoteAccount {
        _ = try await app.store.users.catchUpSinceStart()
        let account = try app.store.account(name)
        let isRight = try await app.passwords.verify(password, of: account, named: name, for: request)
        guard let account else {
            throw Problem(.invalidCredentials, "There is no account of this name.", dialog: .nameNotFound)
        }
        guard isRight else {
            throw Problem(.invalidCredentials, "The password is not that of the account.", dialog: .passwordInvalid)
        }
        guard account.password.cost != app.passwords.cost else { return account }
        // Hashed under another setting: now that the password is known, it can be hashed again.
        let hash = try await app.passwords.hash(password, for: request)
        let isReplaced = try await app.store.rehash(account.password, by: hash, of: account.id)
        return isReplaced ? NoteAccount(id: account.id, name: account.name, password: hash) : account
    }

    /// `GET /v1/notes/session`.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        try ScreenResponse.local(
            SessionScreen(session, route: .noteList),
            "notes.session",
            request,
            changeToken: .unlimited
        ).of(session)
    }

    /// `DELETE /v1/notes/session`: ends the session.
    @Sendable func close(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        try request.writePreconditions().check(version: session.version, of: "The session")
        try await app.sessions.close(request.credentials, app: NotesApp.name)
        return try ScreenResponse.local(FarewellScreen.ofNotes, "notes.session", request)
            .endingSession(of: NotesApp.name, request)
    }
}

/// Names and passwords of a body. The problem names every fault; its dialog is that of the first.
private struct NoteCredentials {
    private let fields: JSONFields
    private var faults: [(error: Problem.FieldError, dialog: Problem.Dialog)] = []

    init(_ fields: JSONFields) { self.fields = fields }

    /// 422 with the faults of those that were read.
    var problem: Problem { .validation(faults.map(\.error), dialog: faults.first?.dialog) }

    /// Reads the user name; nil if it is none.
    ///
    /// - Parameter isNew: whether the name is that of a new account.
    mutating func name(isNew: Bool) throws -> UserName? {
        let text = try fields.string("username") ?? ""
        do throws(UserName.Fault) {
            return try isNew ? UserName.registering(text) : UserName(text)
        } catch {
            switch error {
            case .tooShort: fail("username", "required", .nameTooShort)
            case .invalid: fail("username", "invalid", .nameInvalid)
            case .invisible: fail("username", "invalid", .nameInvisible)
            }
            return nil
        }
    }

    /// Reads a password; nil if it is none.
    mutating func password(_ member: String = "password") throws -> Password? {
        let text = try fields.string(member) ?? ""
        do throws(Password.Fault) {
            return try Password(text)
        } catch {
            switch error {
            case .tooShort: fail(member, "required", .passwordTooShort)
            case .tooLong: fail(member, "too-long", .passwordTooLong)
            }
            return nil
        }
    }

    private mutating func fail(_ member: String, _ code: String, _ dialog: Problem.Dialog) {
        faults.append((.field("/\(member)", code, dialog.message), dialog))
    }
}

extension Problem.Dialog {
    static let nameTaken = Problem.Dialog(title: .userNameTaken, message: .chooseOther)
    static let nameTooShort = Problem.Dialog(title: .userNameTooShort, message: .oneCharacter)
    static let passwordTooShort = Problem.Dialog(title: .passwordTooShort, message: .oneCharacter)
    static let passwordTooLong = Problem.Dialog(title: .invalidPassword, message: .shorterPassword)
    static let nameNotFound = Problem.Dialog(title: .userNameNotFound, message: .checkUserName)
    static let nameInvalid = Problem.Dialog(title: .invalidUserName, message: .shorterUserName)
    static let nameInvisible = Problem.Dialog(title: .invalidUserName, message: .visibleUserName)
    static let passwordInvalid = Problem.Dialog(title: .invalidPassword, message: .checkPassword)
}

/// The account of a session: changes its password and deletes it, both after the present password.
struct NoteAccounts: Sendable {
    let app: Notes

    /// `PUT /v1/notes/account/password`: changes the password and ends all other sessions of the account.
    @Sendable func changePassword(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        var credentials = NoteCredentials(try await request.jsonObject())
        let (present, new) = (try credentials.password(), try credentials.password("new_password"))
        guard let present, let new else { throw credentials.problem }
        let account = try await account(of: session, present, request)
        let hash = try await app.passwords.hash(new, for: request)
        let isReplaced = try await app.store.replace(
            account.password,
            by: hash,
            of: account.id,
            in: app.sessions,
            except: request.credentials
        )
        guard isReplaced else { throw Self.wrongPassword }
        return try .local(
            SessionScreen(session, route: .noteList),
            "notes.session",
            request,
            selfLink: "/v1/notes/session"
        )
    }

    /// `POST /v1/notes/account/deletion`: deletes the account with its notes, and ends all of its sessions.
    @Sendable func delete(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        var credentials = NoteCredentials(try await request.jsonObject())
        guard let password = try credentials.password() else { throw credentials.problem }
        let account = try await account(of: session, password, request)
        do {
            try await app.store.delete(account, in: app.sessions)
        } catch is NoteStore.AccountChanged {
            throw Self.wrongPassword
        }
        return try ScreenResponse.local(FarewellScreen.ofNotes, "notes.session", request, selfLink: "/v1/notes/session")
            .endingSession(of: NotesApp.name, request)
    }

    /// - Throws: ``Problem``, 412 if the session is not at a version that the preconditions allow, 422 if the password
    ///   is not that of the account; errors of the verification.
    private func account(of session: Session, _ password: Password, _ request: ScreenRequest) async throws
        -> NoteAccount
    {
        _ = try await app.store.users.catchUpSinceStart()
        guard let account = try app.store.account(try session.noteAccount()),
            let name = try? UserName(account.name)
        else {
            throw Problem.accountDeleted
        }
        try request.writePreconditions().check(version: session.version, of: "The session")
        guard try await app.passwords.verify(password, of: account, named: name, for: request) else {
            throw Self.wrongPassword
        }
        return account
    }

    private static let wrongPassword = Problem.validation(
        [.field("/password", "invalid", .checkPassword)],
        dialog: .passwordInvalid
    )
}

/// Operations on accounts for operators.
struct NoteAccountAdministration: AccountAdministration {
    let store: NoteStore
    let sessions: SessionStore
    let cost: PasswordHash.Cost

    func resetPassword(of userName: String, to password: String) async throws {
        guard let name = try? UserName(userName), let account = try store.account(name) else {
            throw AccountAdministrationError.unknownAccount(userName)
        }
        let hash: PasswordHash
        do {
            hash = try PasswordHash(of: try Password(password), cost: cost)
        } catch let fault as Password.Fault {
            let reason = fault == .tooShort ? "it is empty" : "it may have \(Password.longest) bytes"
            throw AccountAdministrationError.unacceptablePassword(reason)
        }
        _ = try await store.replace(account.password, by: hash, of: account.id, in: sessions, except: nil)
    }
}
