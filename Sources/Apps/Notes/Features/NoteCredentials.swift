import Screens

/// The user name and the password of a body, `{"username", "password"}`.
enum NoteCredentials {
    /// Returns name and password.
    ///
    /// - Throws: ``Problem``, 422 that names every fault of both; the dialog is that of the first.
    static func read(_ fields: JSONFields) throws -> (UserName, Password) {
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
}
