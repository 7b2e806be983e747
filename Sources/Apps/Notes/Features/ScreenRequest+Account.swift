import Screens

extension ScreenRequest {
    /// Returns the account of the session.
    ///
    /// - Throws: ``Problem``, 401 without a session, or with one that names no account.
    func noteAccount() throws -> Int64 {
        guard let account = Int64(try requiredSession().account) else {
            throw Problem(.sessionExpired, "This session is of no account.")
        }
        return account
    }
}
