import Database
import Foundation
import Screens

extension Session {
    /// The version of the session's screen, which never changes: when it was opened, in milliseconds since 1970 UTC.
    var version: Int { Int(createdAt.millisecondsSince1970) }

    /// Returns the account of the session.
    ///
    /// - Throws: ``Problem``, 401 if the session names no account.
    func noteAccount() throws -> Int64 {
        guard let account = Int64(account) else {
            throw Problem(.sessionExpired, "This session is of no account.")
        }
        return account
    }
}
