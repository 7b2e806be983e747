import Screens

/// The user name and the password of a body, `{"username", "password"}`.
enum NoteCredentials {
    private struct Fault {
        let error: Problem.FieldError
        let dialog: Problem.Dialog
    }

    /// Returns name and password.
    ///
    /// - Parameter isNew: whether the name is that of a new account.
    /// - Throws: ``Problem``, 422 that names every fault of both; the dialog is that of the first.
    static func read(_ fields: JSONFields, isNew: Bool) throws -> (UserName, Password) {
        var faults: [Fault] = []
        let (givenName, givenPassword) = (try fields.string("username"), try fields.string("password"))
        let name = name(givenName ?? "", isNew: isNew, &faults)
        let password = password(givenPassword ?? "", "password", &faults)
        guard let name, let password else {
            throw Problem.validation(faults.map(\.error), dialog: faults.first?.dialog)
        }
        return (name, password)
    }

    /// Returns the present password and the new one of `{"password", "new_password"}`.
    ///
    /// - Throws: ``Problem``, 422 that names every fault of both; the dialog is that of the first.
    static func readChange(_ fields: JSONFields) throws -> (present: Password, new: Password) {
        var faults: [Fault] = []
        let (givenPresent, givenNew) = (try fields.string("password"), try fields.string("new_password"))
        let present = password(givenPresent ?? "", "password", &faults)
        let new = password(givenNew ?? "", "new_password", &faults)
        guard let present, let new else {
            throw Problem.validation(faults.map(\.error), dialog: faults.first?.dialog)
        }
        return (present, new)
    }

    /// Returns the password of `{"password"}`.
    ///
    /// - Throws: ``Problem``, 422 for a password that cannot be one.
    static func readPassword(_ fields: JSONFields) throws -> Password {
        var faults: [Fault] = []
        guard let password = password(try fields.string("password") ?? "", "password", &faults) else {
            throw Problem.validation(faults.map(\.error), dialog: faults.first?.dialog)
        }
        return password
    }

    private static func name(_ text: String, isNew: Bool, _ faults: inout [Fault]) -> UserName? {
        do throws(UserName.Fault) {
            return try isNew ? UserName.registering(text) : UserName(text)
        } catch {
            let (code, detail, dialog): (String, Text, Problem.Dialog) =
                switch error {
                case .tooShort: ("required", "username must have at least one character.", Problem.Dialog.nameTooShort)
                case .invalid:
                    (
                        "invalid", "username may have \(UserName.longest) bytes and no control characters.",
                        .nameInvalid
                    )
                case .invisible: ("invalid", "username may have visible characters only.", .nameInvisible)
                }
            faults.append(Fault(error: .field("/username", code, detail), dialog: dialog))
            return nil
        }
    }

    private static func password(_ text: String, _ member: String, _ faults: inout [Fault]) -> Password? {
        do throws(Password.Fault) {
            return try Password(text)
        } catch {
            let (code, detail, dialog): (String, Text, Problem.Dialog) =
                switch error {
                case .tooShort:
                    ("required", "\(member) must have at least one character.", Problem.Dialog.passwordTooShort)
                case .tooLong: ("too-long", "\(member) may have \(Password.longest) bytes.", .passwordInvalid)
                }
            faults.append(Fault(error: .field("/\(member)", code, detail), dialog: dialog))
            return nil
        }
    }
}
