import Foundation
import HTTPTypes
import Screens
import Storage

/// The account of a session: changes its password and deletes it, both after the present password.
struct NoteAccounts: Sendable {
    let store: NoteStore
    let sessions: SessionStore
    let passwords: NotePasswords

    /// `PUT /v1/notes/account/password`: changes the password and ends all other sessions of the account.
    @Sendable func changePassword(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let (present, new) = try NoteCredentials.readChange(try await request.jsonObject())
        let account = try await account(of: session, present, request)
        let hash = try await passwords.hash(new, for: request)
        let isReplaced = try await store.replace(
            account.password,
            by: hash,
            of: account.id,
            in: sessions,
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
        let password = try NoteCredentials.readPassword(try await request.jsonObject())
        let account = try await account(of: session, password, request)
        do {
            try await store.delete(account, in: sessions)
        } catch is NoteStore.AccountChanged {
            throw Self.wrongPassword
        }
        return try ScreenResponse.local(FarewellScreen.ofNotes, "notes.session", request, selfLink: "/v1/notes/session")
            .endingSession(of: NotesApp.name, request)
    }

    /// Returns the account of a session.
    ///
    /// - Throws: ``Problem``, 412 if the session is not at a version that the preconditions allow, 422 if the password
    ///   is not that of the account; errors of the verification.
    private func account(of session: Session, _ password: Password, _ request: ScreenRequest) async throws
        -> NoteAccount
    {
        _ = try await store.catchUp()
        guard let account = try store.account(try session.noteAccount()),
            let name = try? UserName(account.name)
        else {
            throw Problem(.sessionExpired, .accountDeleted)
        }
        try request.writePreconditions().check(version: session.version, of: "The session")
        guard try await passwords.verify(password, of: account, named: name, for: request) else {
            throw Self.wrongPassword
        }
        return account
    }

    private static let wrongPassword = Problem.validation(
        [.field("/password", "invalid", "password must be that of the account.")],
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
