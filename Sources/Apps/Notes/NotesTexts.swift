import Foundation
import Screens

// The texts of Notes. The original app is in English.
extension Text {
    static let notes = Text("Notes", ru: "Заметки")
    static let createNote = Text("Create Note", ru: "Создать заметку")
    static let noNotes = Text("No Notes Yet", ru: "Заметок пока нет")
    static let noNotesHint = Text("This is where your notes will appear.", ru: "Здесь появятся ваши заметки.")
    static let noMatchingNotes = Text("No Matching Notes", ru: "Заметки не найдены")
    static let noMatchingNotesHint = Text("No note contains these words.", ru: "Ни в одной заметке нет этих слов.")
    static let showAllNotes = Text("Show All Notes", ru: "Показать все заметки")
    static let findPlace = Text("Find a Place", ru: "Найти место")
    static let findPlaceHint = Text("Type the beginning of its name.", ru: "Введите начало названия.")
    static let noMatchingPlaces = Text("No Matching Places", ru: "Места не найдены")
    static let noMatchingPlacesHint = Text(
        "No known place has a name that begins with this.",
        ru: "Мест с таким началом названия нет."
    )
    static let noMatchingPeople = Text("No Matching People", ru: "Люди не найдены")
    static let noMatchingPeopleHint = Text(
        "No name has words that begin with this.",
        ru: "Ни в одном имени нет слов с таким началом."
    )
    static let showAllPeople = Text("Show All People", ru: "Показать всех")
    /// The place of a note that was saved without one.
    static let unknownLocation = Text(Note.Location.unknown.name, ru: "Место неизвестно")
    static func distance(_ kilometres: Int, from place: Text) -> Text {
        Text("\(kilometres) km from \(place.english)", ru: "\(kilometres) км от города \(place.russian)")
    }

    /// - Parameter direction: of eight, clockwise from north.
    static func distance(_ kilometres: Int, _ direction: Int, from place: Text) -> Text {
        let english = ["north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"]
        let russian = [
            "северу", "северо-востоку", "востоку", "юго-востоку", "югу", "юго-западу", "западу", "северо-западу",
        ]
        return Text(
            "\(kilometres) km \(english[direction]) of \(place.english)",
            ru: "\(kilometres) км к \(russian[direction]) от города \(place.russian)"
        )
    }

    static let changePassword = Text("Change Password", ru: "Сменить пароль")
    static let newPassword = Text("New password", ru: "Новый пароль")
    static let deleteAccount = Text("Delete Account", ru: "Удалить учётную запись")
    static let confirmAccountDeletion = Text(
        "Delete the account with all its notes? This cannot be undone.",
        ru: "Удалить учётную запись со всеми заметками? Отменить это нельзя."
    )
    static let accountDeleted = Text(
        "The account of this session was deleted.",
        ru: "Учётная запись этого сеанса удалена."
    )

    static let noteTrashHint = Text(
        "Notes that you delete stay here for a while.",
        ru: "Удалённые заметки некоторое время хранятся здесь."
    )

    static func lastEdited(_ time: Text) -> Text {
        Text("Last edited: \(time.english)", ru: "Изменена: \(time.russian)")
    }

    static let noNote = Text("There is no such note.", ru: "Такой заметки нет.")

    static let noPerson = Text("There is no such person.", ru: "Такого человека нет.")
}

// Logins, and faults of the input.
extension Text {
    static let nameIsTaken = Text("The name is taken", ru: "Имя занято")
    static let userNameTaken = Text("User name taken.", ru: "Имя занято.")
    static let chooseOther = Text("Please choose another user name.", ru: "Выберите другое имя.")
    static let userNameTooShort = Text("User name too short.", ru: "Слишком короткое имя.")
    static let oneCharacter = Text("Please enter at least one character.", ru: "Введите хотя бы один символ.")
    static let passwordTooShort = Text("Password too short.", ru: "Слишком короткий пароль.")
    static let userNameNotFound = Text("User name not found.", ru: "Имя не найдено.")
    static let checkUserName = Text(
        "Please check the user name, or sign up.",
        ru: "Проверьте имя или зарегистрируйтесь."
    )
    static let invalidUserName = Text("Invalid user name.", ru: "Недопустимое имя.")
    static let shorterUserName = Text(
        "Please enter a shorter user name without control characters.",
        ru: "Введите имя короче и без управляющих символов."
    )
    static let visibleUserName = Text(
        "Please enter a user name without invisible characters.",
        ru: "Введите имя без невидимых символов."
    )
    static let shorterPassword = Text("Please enter a shorter password.", ru: "Введите пароль короче.")
    static let invalidPassword = Text("Invalid password.", ru: "Неверный пароль.")
    static let checkPassword = Text(
        "Please check the password and try again.",
        ru: "Проверьте пароль и попробуйте снова."
    )
    static let tooManyLogins = Text(
        "Too many logins at the same time; try again in a moment.",
        ru: "Слишком много входов одновременно; попробуйте чуть позже."
    )

    static func tooManyPasswords(_ seconds: Int) -> Text {
        Text(
            "Too many wrong passwords; try again in \(seconds) seconds.",
            ru: "Слишком много неверных паролей; попробуйте через \(seconds) с."
        )
    }

    static let mustNotBeEmpty = Text("A text is missing.", ru: "Текст не может быть пустым.")

    static func mayHaveBytes(_ most: Int) -> Text {
        let bytes = number(Decimal(most))
        return Text(
            "The text is too long: at most \(bytes.english) bytes.",
            ru: "Слишком длинный текст: не больше \(bytes.russian) байт."
        )
    }
}

// Faults of a note, in a request or in a file.
extension Text {
    static let bodyRequired = Text("A note needs a text.", ru: "Заметке нужен текст.")
    static let mustBeLocation = Text(
        "A place has a latitude, a longitude and a name.",
        ru: "У места есть широта, долгота и название."
    )
    static let mustNotContainNull = Text(
        "The text has a character that notes cannot have (zero).",
        ru: "В тексте есть символ, которого в заметках быть не может (нулевой)."
    )

    static let needed = Text("A text is needed here.", ru: "Здесь нужен текст.")

    static func needsDegrees(isLatitude: Bool) -> Text {
        isLatitude
            ? Text("A place needs a latitude, too.", ru: "Месту нужна и широта.")
            : Text("A place needs a longitude, too.", ru: "Месту нужна и долгота.")
    }

    static func mustBeDegrees(isLatitude: Bool, _ limit: Int) -> Text {
        let (english, russian) = isLatitude ? ("latitude", "Широта") : ("longitude", "Долгота")
        return Text(
            "The \(english) is a number of degrees from -\(limit) to \(limit).",
            ru: "\(russian) — число градусов от -\(limit) до \(limit)."
        )
    }

    static func nameOfPlaceForm(_ most: Int) -> Text {
        Text(
            "The name of a place has at most \(most) characters, none of them zero.",
            ru: "В названии места не больше \(most) символов, без нулевого."
        )
    }
}

// Files of notes.
extension Text {
    static let noteFiles = Text("Files: JSON, GeoJSON or GPX", ru: "Файлы: JSON, GeoJSON или GPX")
    static let importNotes = Text("Import Notes", ru: "Импортировать заметки")
    static let noFileOfNotes = Text("The form has no file of notes.", ru: "Выберите файл с заметками.")
    static let noObject = Text("An object is expected.", ru: "Здесь должен быть объект.")
    static let noTime = Text(
        "A time such as 2026-01-05T10:00:00Z is expected.",
        ru: "Здесь должно быть время вида 2026-01-05T10:00:00Z."
    )
    static let noCoordinates = Text(
        "A point needs latitude and longitude, as numbers of degrees.",
        ru: "Точке нужны широта и долгота — числа градусов."
    )
    static let noGeometry = Text("The geometry is none of GeoJSON.", ru: "Такой геометрии в GeoJSON нет.")
    static let tooManyNotesAtOnce = Text(
        "These are too many notes for one import; divide the file.",
        ru: "Слишком много заметок для одного импорта; разделите файл."
    )

    static func export(_ format: NoteFormat) -> Text {
        let name = ["json": "JSON", "geojson": "GeoJSON", "gpx": "GPX"][format.rawValue] ?? format.rawValue
        return Text("Export as \(name)", ru: "Экспортировать как \(name)")
    }

    static func noFormOfNotes(_ title: String) -> Text {
        Text(
            "\(title) is neither an export of notes as JSON, nor GeoJSON, nor GPX.",
            ru: "\(title) — не экспорт заметок в JSON, не GeoJSON и не GPX."
        )
    }

    static func tooManyNotes(_ title: String, _ most: Int) -> Text {
        Text(
            "\(title) has more than \(most) notes; divide the file.",
            ru: "\(title): больше \(most) заметок; разделите файл."
        )
    }

    static func imported(added: Int, unchanged: Int, leftOut: Int) -> Text {
        let more = Text(
            leftOut == 0 ? "" : ". Tracks, routes and areas left out: \(leftOut)",
            ru: leftOut == 0 ? "" : ". Пропущено треков, маршрутов и областей: \(leftOut)"
        )
        return Text("Added: \(added). Already there: \(unchanged)", ru: "Добавлено: \(added). Уже были: \(unchanged)")
            + more
    }

    static func lineOfFile(_ number: Int) -> Text { Text("line \(number)", ru: "строка \(number)") }

    static let isNotUTF8 = Text("XML is accepted in UTF-8 only.", ru: "XML принимается только в UTF-8.")
    static let isNotWellFormed = Text("This is not well-formed XML.", ru: "Это неправильный XML.")
    static let hasDeclaration = Text(
        "A document type declaration is not accepted.",
        ru: "Объявление типа документа не принимается."
    )
    static let hasUnknownEntity = Text("XML has no entity of this name.", ru: "Такой сущности в XML нет.")
    static let endsEarly = Text("The file ends too early.", ru: "Файл обрывается.")
}
