import Screens

extension Problem.Dialog {
    static let nameTaken = Problem.Dialog(title: .userNameTaken, message: .chooseOther)
    static let nameTooShort = Problem.Dialog(
        title: .userNameTooShort,
        message: .oneCharacter
    )
    static let passwordTooShort = Problem.Dialog(
        title: .passwordTooShort,
        message: .oneCharacter
    )
    static let nameNotFound = Problem.Dialog(
        title: .userNameNotFound,
        message: .checkUserName
    )
    static let nameInvalid = Problem.Dialog(
        title: .invalidUserName,
        message: .shorterUserName
    )
    static let nameInvisible = Problem.Dialog(
        title: .invalidUserName,
        message: .visibleUserName
    )
    static let passwordInvalid = Problem.Dialog(
        title: .invalidPassword,
        message: .checkPassword
    )
}
