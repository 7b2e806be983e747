import Foundation
import Screens

// The texts of Ships. The original app is in English.
extension Text {
    static let logout = Text("Logout", ru: "Выйти")
    static let exit = Text("Exit", ru: "Закончить")
    static let restoreShips = Text("Restore deleted ships", ru: "Вернуть удалённые корабли")
    static let noDeletedShips = Text("No ship was deleted.", ru: "Удалённых кораблей нет.")
    static let noShips = Text("No ships", ru: "Кораблей нет")
    static let noShipsHint = Text(
        "There are no ships to show. Pull to refresh, or restore the ships that you deleted.",
        ru: "Показывать нечего. Потяните, чтобы обновить, или верните удалённые корабли."
    )
    /// The apostrophe is U+2019, as in the original app.
    static let shipsOffline = Text(
        "No internet connection. You’re in Offline mode.",
        ru: "Нет соединения с интернетом. Вы в автономном режиме."
    )
    static let thanks = Text("Thank you for trialing this app", ru: "Спасибо, что попробовали это приложение")
    static let shipDeleted = Text("The ship was deleted", ru: "Корабль удалён")

    static func kilograms(_ mass: Double) -> Text {
        let number = abs(mass) < 1e30 ? Text.number(Decimal(mass)) : Text(verbatim: "\(mass)")
        return Text("\(number.english) kg", ru: "\(number.russian) кг")
    }
    static let noShipFound = Text("Nothing was found", ru: "Ничего не найдено")
    static let noShipFoundHint = Text(
        "No ship has these words in its name, type, home port or roles.",
        ru: "Этих слов нет ни в названии, ни в типе, ни в порте, ни в назначении кораблей."
    )
    static let allShips = Text("Show all ships", ru: "Показать все корабли")
    static let noShip = Text("There is no such ship.", ru: "Такого корабля нет.")
}

// Faults of requests.
extension Text {
    static let modeForm = Text(verbatim: "mode must be login or guest.")
    static let emailRequired = Text("Enter your e-mail address.", ru: "Укажите адрес электронной почты.")
    static let emailForm = Text(
        "Enter an e-mail address such as example@domain.com.",
        ru: "Укажите адрес электронной почты, например example@domain.com."
    )
    static let wrongLogin = Text(
        "The e-mail address or the password is wrong.",
        ru: "Неверный адрес электронной почты или пароль."
    )
    static let passwordRequired = Text("Enter your password.", ru: "Введите пароль.")

    static func tooManyIDs(_ most: Int) -> Text {
        "ids may have \(most) entries; without ids everything is restored."
    }
}
