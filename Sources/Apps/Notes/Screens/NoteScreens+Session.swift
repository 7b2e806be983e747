import Screens

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
    static let nameInvisible = Problem.Dialog(
        title: "Invalid user name.",
        message: "Please enter a user name without invisible characters."
    )
    static let passwordInvalid = Problem.Dialog(
        title: "Invalid password.",
        message: "Please check the password and try again."
    )
}
