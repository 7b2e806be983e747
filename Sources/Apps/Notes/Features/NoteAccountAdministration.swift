import AppInterface
import Database
import Screens

/// What an operator may do with accounts.
struct NoteAccountAdministration: AccountAdministration {
    let book: any NoteBook
    let sessions: SessionStore
    let cost: PasswordHash.Cost

    func resetPassword(of userName: String, to password: String) async throws {
        guard let name = try? UserName(userName), let account = try await book.account(name) else {
            throw AccountAdministrationError.unknownAccount(userName)
        }
        let hash: PasswordHash
        do {
            hash = try PasswordHash(of: try Password(password), cost: cost)
        } catch let fault as Password.Fault {
            let reason = fault == .tooShort ? "it is empty" : "it may have \(Password.longest) bytes"
            throw AccountAdministrationError.unacceptablePassword(reason)
        }
        _ = try await book.replace(account.password, by: hash, of: account.id, in: sessions, except: nil)
    }
}
