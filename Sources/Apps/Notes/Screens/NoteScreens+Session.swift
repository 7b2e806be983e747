import Foundation
import Screens

/// `GET /v1/notes/launch`: the screen of a cold start.
struct NoteLaunchScreen: Encodable, Sendable {
    /// `main` or `login`.
    let route: String
}

/// `DELETE /v1/notes/session`; without a dialog.
struct NoteFarewellScreen: Encodable, Sendable {
    let route = "login"
    @Nullable var alert: String?

    init() { _alert = Nullable(wrappedValue: nil) }

    private enum CodingKeys: CodingKey { case route, alert }
}

extension Problem.Dialog {
    static let nameTaken = Problem.Dialog(title: "User name taken.", message: "Please choose another user name.")
    static let nameTooShort = Problem.Dialog(
        title: "User name too short.",
        message: "Please enter at least one character."
    )
    static let passwordTooShort = Problem.Dialog(
        title: "Password too short.",
        message: "Please enter at least one character."
    )
    static let nameNotFound = Problem.Dialog(
        title: "User name not found.",
        message: "Please check the user name, or sign up."
    )
    static let nameInvalid = Problem.Dialog(
        title: "Invalid user name.",
        message: "Please enter a shorter user name without control characters."
    )
    static let passwordInvalid = Problem.Dialog(
        title: "Invalid password.",
        message: "Please check the password and try again."
    )
}
