import Foundation
import HTTP
import Screens

/// Formats sizes and times.
enum DiskText {
    private static let kilobyte = 1024.0

    /// Returns a size for lists: KB, MB or GB (powers of 1024) with two decimals, or `Unknown size`.
    static func size(_ bytes: Int?) -> Text {
        guard let bytes else { return .unknownSize }
        let size = Double(bytes)
        if size < kilobyte * kilobyte { return .kilobytes(decimal(size / kilobyte)) }
        if size < kilobyte * kilobyte * kilobyte { return .megabytes(decimal(size / kilobyte / kilobyte)) }
        return .gigabytes(decimal(size / kilobyte / kilobyte / kilobyte))
    }

    /// Returns a size for the profile: GB (powers of 1024), without decimals if it is whole, else with two.
    static func gigabytes(_ bytes: Int) -> Text {
        let size = Double(bytes) / kilobyte / kilobyte / kilobyte
        return .gigabytes(size == size.rounded() ? "\(Int(size))" : decimal(size))
    }

    static func share(_ share: Double) -> Text { .perCent(Int((share * 100).rounded(.down))) }

    /// Returns a time as `dd.MM.yyyy HH:mm` in a time zone, or `Unknown date`.
    static func date(_ date: Date?, in timeZone: TimeZone) -> Text {
        guard let date else { return .unknownDate }
        guard let time = CivilTime(date, in: timeZone) else { return Text(verbatim: calendarDate(date, in: timeZone)) }
        return Text(verbatim: time.text("DD.MM.YYYY hh:mm"))
    }

    /// The same of any year.
    private static func calendarDate(_ date: Date, in timeZone: TimeZone) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        let day = "\(two(parts.day)).\(two(parts.month)).\(padded(parts.year ?? 0, 4))"
        return "\(day) \(two(parts.hour)):\(two(parts.minute))"
    }

    private static func two(_ number: Int?) -> String { padded(number ?? 0, 2) }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Returns a number with two decimals and a point, independent of the locale.
    static func decimal(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(padded(hundredths % 100, 2))"
    }
}

// The texts of the Disk. The original app is in English.
extension Text {
    static let disk = Text("Disk", ru: "Диск")
    /// Returns why something cannot be done now, if a screen could not be requested for the same reason.
    static func diskAway(_ provenance: Provenance) -> Text? {
        let failures: Set = ["stale-if-error", "bad-response", "retry-after"]
        if provenance.offline {
            return Text("Yandex Disk cannot be reached now.", ru: "Яндекс Диск сейчас недоступен.")
        }
        guard provenance.pausedUntil != nil || provenance.cacheStatus?.detail.map(failures.contains) == true else {
            return nil
        }
        return Text("Yandex Disk does not work at the moment.", ru: "Яндекс Диск сейчас не работает.")
    }

    static let waitsForDisk = Text("It was not sent to Yandex Disk yet.", ru: "Ещё не отправлено на Яндекс Диск.")
    static let notPossible = Text("This cannot be done with this change.", ru: "С этим изменением так нельзя.")
    static let keptWithFolder = Text("It is kept with its folder.", ru: "Сохраняется вместе с папкой.")
    static let details = Text("Properties", ru: "Свойства")
    static let newFolder = Text("New folder", ru: "Новая папка")
    static let path = Text("Path", ru: "Путь")
    static let overwrite = Text("Replace what is there", ru: "Заменить то, что там есть")
    static let seconds = Text("Seconds until the link ends", ru: "Сколько секунд действует ссылка")
    static let move = Text("Move", ru: "Переместить")
    static let copy = Text("Copy", ru: "Копировать")
    static let download = Text("Download", ru: "Скачать")
    static let next = Text("Next", ru: "Далее")
    static let allDocuments = Text(
        "All your documents are now in one place",
        ru: "Теперь все ваши документы в одном месте"
    )
    static let withoutInternet = Text("Access your files without the Internet", ru: "Доступ к файлам без интернета")
    static let shareWithOthers = Text("Share your files with others", ru: "Делитесь вашими файлами с другими")
    static let shareFile = Text("Share file", ru: "Поделиться файлом")
    static let shareLink = Text("Share link", ru: "Поделиться ссылкой")
    static let unpublish = Text("Unpublish file", ru: "Убрать публикацию")
    static let publishedFiles = Text("Published files", ru: "Опубликованные файлы")
    static let exit = Text("Exit", ru: "Выход")
    static let confirmLogout = Text(
        "Are you sure you want to log out? All local data will be deleted.",
        ru: "Вы уверены, что хотите выйти? Все локальные данные будут удалены."
    )
    static let yes = Text("Yes", ru: "Да")
    static let no = Text("No", ru: "Нет")
    static let noInternet = Text(
        "No internet. Loading cache data.",
        ru: "Нет интернета. Загружаются сохранённые данные."
    )
    static let notSupported = Text("Not supported format", ru: "Формат не поддерживается")
    static let laterSupported = Text("It will work later", ru: "Это заработает позже")
    static let noLibreOffice = Text(
        "LibreOffice is not installed where Larder runs.",
        ru: "На сервере не установлен LibreOffice."
    )

    static func deletion(of item: DiskItem) -> Text {
        switch (item.kind, item.viewer) {
        case (.dir, _): Text("Delete folder", ru: "Удалить папку")
        case (_, .image): Text("Delete image", ru: "Удалить изображение")
        default: Text("Delete file", ru: "Удалить файл")
        }
    }

    static func confirmDeletion(of item: DiskItem) -> Text {
        switch (item.kind, item.viewer) {
        case (.dir, _): Text("Current folder will be deleted", ru: "Эта папка будет удалена")
        case (_, .image): Text("Current image will be deleted", ru: "Это изображение будет удалено")
        default: Text("Current file will be deleted", ru: "Этот файл будет удалён")
        }
    }
}

// Lists without rows.
extension Text {
    static let recent = Text("Recent", ru: "Последние")
    static let files = Text("Files", ru: "Файлы")
    static let nothingPublished = Text(
        "You do not have any published files yet",
        ru: "У вас пока нет опубликованных файлов"
    )
    static let nothingRecent = Text("You have not uploaded any files yet", ru: "Вы пока не загрузили ни одного файла")
    static let folderEmpty = Text("This folder is empty", ru: "Эта папка пуста")
    static let nothingFound = Text("Nothing was found", ru: "Ничего не найдено")
    static let nothingFoundInPart = Text(
        "Nothing was found among the files that were seen so far",
        ru: "Среди уже просмотренных файлов ничего не найдено"
    )
}

// Values.
extension Text {
    static let unknownSize = Text("Unknown size", ru: "Размер неизвестен")
    static let unknownDate = Text("Unknown date", ru: "Дата неизвестна")

    static func kilobytes(_ number: String) -> Text { size(number, "KB", "КБ") }
    static func megabytes(_ number: String) -> Text { size(number, "MB", "МБ") }
    static func gigabytes(_ number: String) -> Text { size(number, "GB", "ГБ") }
    static func used(_ size: Text) -> Text { Text("\(size.english) - used", ru: "\(size.russian) — занято") }
    static func available(_ size: Text) -> Text {
        Text("\(size.english) - available", ru: "\(size.russian) — свободно")
    }

    static func inTrash(_ size: Text) -> Text {
        Text("\(size.english) - in the trash", ru: "\(size.russian) — в корзине")
    }

    static func perCent(_ number: Int) -> Text { Text("\(number)%", ru: "\(number) %") }

    static func usedOf(_ used: Text, _ total: Text) -> Text {
        Text("\(used.english) used of \(total.english)", ru: "Занято \(used.russian) из \(total.russian)")
    }

    private static func size(_ digits: String, _ english: String, _ russian: String) -> Text {
        // Byte by byte: a search for a text in a text takes twenty times as long, and lists have many sizes.
        let withComma = digits.utf8.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: ",") : $0 }
        return Text("\(digits) \(english)", ru: "\(String(decoding: withComma, as: UTF8.self)) \(russian)")
    }
}

// Failures.
extension Text {
    static let uploadLimit = Text("The limit for uploads is reached", ru: "Лимит загрузок исчерпан")
    static let upstreamReadOnly = Text("Yandex Disk is read-only for now", ru: "Яндекс Диск пока только для чтения")
    static let lockedByOther = Text("Another operation is using this", ru: "Занято другой операцией")
    static let notAFolder = Text("This is not a folder", ru: "Это не папка")
    static let loggedOut = Text("This account was logged out.", ru: "Вы вышли из этой учётной записи.")
    static let noParent = Text("The parent folder does not exist.", ru: "Такой папки нет.")
    static let nameExists = Text(
        "Something with this name already exists; nothing was overwritten.",
        ru: "Такое имя уже занято; ничего не перезаписано."
    )
    static let unreachable = Text(
        "Yandex Disk cannot be reached. Nothing was changed.",
        ru: "Яндекс Диск недоступен. Ничего не изменено."
    )

    static let tokenRefused = Text(
        "Yandex Disk does not accept the account's token any more. Log in again.",
        ru: "Яндекс Диск больше не принимает токен. Войдите снова."
    )

    static func notAllowed(_ right: DiskRight) -> Text {
        Text(
            "Yandex Disk does not allow this: the token lacks the right \(right.rawValue), or the files take more space "
                + "than the account has.",
            ru: "Яндекс Диск не разрешает это действие: у токена нет права \(right.rawValue), или файлам не хватает "
                + "места."
        )
    }

    static func notAllowedNow(_ code: String) -> Text {
        Text(
            "Yandex Disk does not allow this now\(named(code)).",
            ru: "Сейчас Яндекс Диск не разрешает это\(named(code))."
        )
    }

    static let pathRefused = Text("Yandex Disk does not take this path.", ru: "Яндекс Диск не принимает такой путь.")

    static func requestRefused(_ code: String) -> Text {
        Text(
            "Yandex Disk does not take this request\(named(code)).",
            ru: "Яндекс Диск не принимает такой запрос\(named(code))."
        )
    }

    private static func named(_ code: String) -> String { code.isEmpty ? "" : " (\(code))" }

    static let passwordRequired = Text("This link needs a password.", ru: "Для этой ссылки нужен пароль.")

    static let accountTypeRefused = Text(
        "Yandex Disk does not allow this for accounts of this type.",
        ru: "Для такого аккаунта Яндекс Диск это не разрешает."
    )

    static let operationForgotten = Text(
        "Yandex Disk does not know this operation any more. The lists show its result.",
        ru: "Яндекс Диск больше не знает об этой операции. Её итог виден в списках."
    )

    static let nothingThere = Text("Yandex Disk has nothing at this path.", ru: "На Яндекс Диске этого нет.")

    static let notShownYet = Text(
        "Yandex Disk has this and does not show it yet. Nothing was changed; try again in a moment.",
        ru: "Яндекс Диск это получил, но пока не показывает. Ничего не изменено; повторите чуть позже."
    )

    static let noSuchList = Text("Yandex Disk says that it has no such list.", ru: "На Яндекс Диске нет такого списка.")

    static let formRefused = Text(
        "Yandex Disk does not have this in this form.",
        ru: "На Яндекс Диске этого нет в таком виде."
    )

    static let batchInterrupted = Text(
        "The batch was interrupted before. This was not changed.",
        ru: "Операция прервана раньше. Здесь ничего не изменено."
    )

    static let rootRefused = Text("This cannot be done with the whole Disk.", ru: "С Диском целиком так нельзя.")

    static let hasChanged = Text(
        "It has changed on Yandex Disk in the meantime.",
        ru: "На Яндекс Диске это тем временем изменилось."
    )

    static let uploadLimitReached = Text(
        "The limit for uploads to Yandex Disk is reached. To try again soon is of no use.",
        ru: "Лимит загрузок на Яндекс Диск исчерпан. Скорый повтор не поможет."
    )

    static let readOnly = Text(
        "Yandex Disk is under maintenance: files can only be viewed and downloaded. Try again later.",
        ru: "На Яндекс Диске технические работы: файлы можно только смотреть и скачивать. Повторите позже."
    )

    /// A failure of the API before anything was changed.
    static func nothingChanged(_ status: Int) -> Text {
        switch status {
        case 429:
            Text(
                "Yandex Disk asks to wait. Nothing was changed.",
                ru: "Яндекс Диск просит подождать. Ничего не изменено."
            )
        case 507:
            Text(
                "Yandex Disk has no room for this. Nothing was changed.",
                ru: "На Яндекс Диске нет места. Ничего не изменено."
            )
        default:
            Text(
                "Yandex Disk does not work at the moment. Nothing was changed here.",
                ru: "Яндекс Диск сейчас не работает. Здесь ничего не изменено."
            )
        }
    }

    static let inUse = Text(
        "Yandex Disk is using this for another operation. Try again.",
        ru: "Яндекс Диск занят другой операцией с этим. Повторите попытку."
    )

    static let tooLarge = Text(
        "The file is larger than Yandex Disk accepts.",
        ru: "Файл больше, чем принимает Яндекс Диск."
    )

    static let linkTimeOver = Text(
        "The time for which this link was to be open is over. Nothing was shared.",
        ru: "Время, на которое нужна была ссылка, уже прошло. Ничего не опубликовано."
    )

    static func linkEndRefused(isShared: Bool) -> Text {
        Text(
            "Yandex Disk does not give this link the end that was asked for. "
                + (isShared ? "It is still shared." : "It was not shared."),
            ru: "Яндекс Диск не устанавливает для этой ссылки такой срок. "
                + (isShared ? "Ссылка по-прежнему открыта." : "Ссылка не создана.")
        )
    }

    static let notWholeDisk = Text(
        "Name a place in the Disk, not the whole of it.",
        ru: "Укажите место на Диске, а не весь Диск."
    )
    static let lifetimeOfLink = Text(
        "A link lasts from a second to a year (31,536,000 s).",
        ru: "Ссылка действует от секунды до года (31\u{A0}536\u{A0}000 с)."
    )
    static let whatToSearch = Text(
        "Enter 1 to \(DiskPath.longestName) characters to search for.",
        ru: "Введите для поиска от 1 до \(DiskPath.longestName) символов."
    )

    static func pathForm(_ scheme: DiskPath.Scheme) -> Text {
        let path = "\(scheme.rawValue):/docs/report.pdf"
        return Text("A path looks like \(path).", ru: "Путь выглядит так: \(path).")
    }

    /// - Parameter required: The extension of a file; empty if it has none.
    static func keepsExtension(_ required: String) -> Text {
        if required.isEmpty {
            return Text("The file has no extension, and keeps none.", ru: "У файла нет расширения: не добавляйте его.")
        }
        return Text("The file keeps its extension .\(required).", ru: "Расширение .\(required) нужно оставить.")
    }

    static func nameRule(_ most: Int) -> Text {
        Text(
            "A name has 1 to \(most) characters, not only spaces, without / and control characters.",
            ru: "Имя — от 1 до \(most) символов, не только пробелы, без / и управляющих символов."
        )
    }
}
