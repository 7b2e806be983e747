import Screens

/// The user name and the password of a body, `{"username", "password"}`.
enum NoteCredentials {
    private struct Fault {
        let error: Problem.FieldError
        let dialog: Problem.Dialog
    }

    /// Returns name and password.
    ///
    /// - Throws: ``Problem``, 422 that names every fault of both; the dialog is that of the first.
    static func read(_ fields: JSONFields) throws -> (UserName, Password) {
        var faults: [Fault] = []
        let (givenName, givenPassword) = (try fields.string("username"), try fields.string("password"))
        let name = name(givenName ?? "", &faults)
        let password = password(givenPassword ?? "", &faults)
        guard let name, let password else {
            throw Problem.validation(faults.map(\.error), dialog: faults.first?.dialog)
        }
        return (name, password)
    }

    private static func name(_ text: String, _ faults: inout [Fault]) -> UserName? {
        do throws(UserName.Fault) {
            return try UserName(text)
        } catch {
            let (code, detail, dialog) =
                switch error {
                case .tooShort: ("required", "username must have at least one character.", Problem.Dialog.nameTooShort)
                case .invalid:
                    (
                        "invalid", "username may have \(UserName.longest) bytes and no control characters.",
                        .nameInvalid
                    )
                }
            faults.append(Fault(error: .field("/username", code, detail), dialog: dialog))
            return nil
        }
    }

    private static func password(_ text: String, _ faults: inout [Fault]) -> Password? {
        do throws(Password.Fault) {
            return try Password(text)
        } catch {
            let (code, detail, dialog) =
                switch error {
                case .tooShort:
                    ("required", "password must have at least one character.", Problem.Dialog.passwordTooShort)
                case .tooLong: ("too-long", "password may have \(Password.longest) bytes.", .passwordInvalid)
                }
            faults.append(Fault(error: .field("/password", code, detail), dialog: dialog))
            return nil
        }
    }
}
