/// What an operator may do with the accounts of an app whose passwords Larder keeps itself.
///
/// It uses a server's own database alone, while no server does; a shared store also while servers use it.
package protocol AccountAdministration: Sendable {
    /// Sets another password and ends all sessions of the account.
    ///
    /// - Parameters:
    ///   - userName: name of the account.
    ///   - password: the new password.
    /// - Throws: ``AccountAdministrationError``; `StorageError`.
    func resetPassword(of userName: String, to password: String) async throws
}

/// Why an account cannot be administered; the text is for the operator.
package enum AccountAdministrationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The app has no account of this name.
    case unknownAccount(String)
    /// The password cannot be one.
    case unacceptablePassword(String)

    /// One line for people.
    package var description: String {
        switch self {
        case .unknownAccount(let name): "there is no account of the name \(name)"
        case .unacceptablePassword(let reason): "the password is not acceptable: \(reason)"
        }
    }
}
