import Database
import Foundation
import Screens

extension Session {
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
