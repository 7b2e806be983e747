package import Foundation
import HTTP

// Texts that all apps share. A text on which only authors of clients can act (a malformed request) has no translation:
// its `detail` is in English, and users get the title of its code (``Problem/message``).
extension Text {
    /// The heading of an alert.
    package static let error = Text("Error", ru: "Ошибка")
    package static let ok = Text("OK", ru: "ОК")
    package static let cancel = Text("Cancel", ru: "Отмена")
    /// The button that repeats a request.
    package static let tryAgain = Text("Try again", ru: "Повторить")
    package static let refresh = Text("Refresh", ru: "Обновить")
    package static let rename = Text("Rename", ru: "Переименовать")
    package static let delete = Text("Delete", ru: "Удалить")
    package static let save = Text("Save", ru: "Сохранить")
    package static let clear = Text("Clear", ru: "Очистить")
    package static let share = Text("Share", ru: "Поделиться")
    package static let logOut = Text("Log Out", ru: "Выйти")
    package static let undo = Text("Undo", ru: "Отменить")
    package static let trash = Text("Trash", ru: "Корзина")
    package static let trashIsEmpty = Text("The trash is empty", ru: "Корзина пуста")
    package static let search = Text("Search", ru: "Поиск")
    package static let name = Text("Name", ru: "Имя")
    package static let size = Text("Size", ru: "Размер")
    package static let created = Text("Created", ru: "Создано")
    package static let text = Text("Text", ru: "Текст")
    package static let place = Text("Place", ru: "Место")
    package static let password = Text("Password", ru: "Пароль")
    package static let pages = Text("Pages", ru: "Страницы")
    static let profile = Text("Profile", ru: "Профиль")
    static let serverStatus = Text("Status", ru: "Состояние")
    static let storage = Text("Storage", ru: "Хранилище")
    static let used = Text("Used", ru: "Занято")
    static let quota = Text("Limit", ru: "Предел")
    static let devices = Text("Devices", ru: "Устройства")
    /// The button that restores something from the trash.
    package static let restore = Text("Restore", ru: "Восстановить")
    /// The button that deletes something without a way back.
    static let deleteForGood = Text("Delete for good", ru: "Удалить навсегда")
    /// The button that deletes all that is in the trash.
    package static let emptyTrash = Text("Empty the trash", ru: "Очистить корзину")
    /// The question before something is deleted permanently.
    static let confirmPurge = Text(
        "Delete this for good? There is no way back.",
        ru: "Удалить навсегда? Вернуть будет нельзя."
    )
    /// The question before the trash is emptied.
    static let confirmEmptyingTrash = Text(
        "Delete for good all that is in the trash? There is no way back.",
        ru: "Удалить навсегда всё, что в корзине? Вернуть будет нельзя."
    )
    /// Says that writes which wait for an upstream need a decision of the user.
    static func needsDecision(_ count: Int) -> Text {
        Text(
            "Changes that need your decision: \(count). They are in the outbox.",
            ru: "Изменения, которые ждут вашего решения: \(count). Они в исходящих."
        )
    }

    static let keyReused: Text = """
        Another request had this Idempotency-Key: of another method, target or body. A new change needs a new key.
        """
    static let keyInUse: Text = "The first request with this Idempotency-Key has no response yet; repeat it later."
    static let keyWithoutResponse = Text(
        "The first request was interrupted: it is not known whether it was carried out. Read the present state first.",
        ru: "Первый запрос прервался: неизвестно, выполнен ли он. Сначала проверьте нынешнее состояние."
    )

    /// Placeholder for an unknown value.
    package static let notAvailable = Text("N/A", ru: "Н/Д")

    /// When something was deleted.
    package static func deleted(_ time: Text) -> Text {
        Text("Deleted: \(time.english)", ru: "Удалено: \(time.russian)")
    }

    /// Until when something stays in the trash.
    package static func keptUntil(_ time: Text) -> Text {
        Text("Kept until: \(time.english)", ru: "Хранится до: \(time.russian)")
    }

    /// How much is in the trash.
    package static func inTrash(_ count: Int) -> Text {
        Text("In the trash: \(count)", ru: "В корзине: \(count)")
    }

    static func tooManyFiles(_ most: Int) -> Text {
        Text(
            "One request may contain at most \(most) files.",
            ru: "За один раз можно отправить не больше \(most) файлов."
        )
    }

    static let nothingStored = Text(
        "Nothing is stored for this screen.",
        ru: "Для этого экрана нет сохранённых данных."
    )
    static let diskFull = Text(
        "The disk of the server is full, and nothing was changed. "
            + "What is stored can be read, and documents and notes can be deleted to make room, also from the trash.",
        ru: "На диске сервера нет места, ничего не изменено. "
            + "Сохранённое можно читать; удалите документы или заметки, в том числе из корзины, чтобы освободить место."
    )
    static let storageFailed = Text(
        "The server cannot read or write its data now, and nothing was changed. The cause is in its log.",
        ru: "Сервер не может прочитать или записать данные, ничего не изменено. Причина — в его журнале."
    )
    static let storeUnavailable = Text(
        "The server does not reach the store of your data, and nothing was changed. The cause is in its log.",
        ru: "Сервер не может обратиться к хранилищу ваших данных, ничего не изменено. Причина — в его журнале."
    )
    static func storeStale(seconds: Int) -> Text {
        Text(
            "Your data is shown as it was \(seconds) s ago: the server does not reach its store. Changes have to wait.",
            ru: "Ваши данные показаны такими, как \(seconds) с назад: хранилище недоступно. Изменения подождут."
        )
    }
    static let storeOutcomeUnknown = Text(
        "The store did not confirm the change: it was kept or was not.",
        ru: "Хранилище не подтвердило изменение: оно могло сохраниться или нет."
    )
    static let processingUnavailable = Text(
        "The server cannot work on pictures and documents at the moment. Nothing is wrong with the file; "
            + "try again later. The cause is in the server's log.",
        ru: "Сервер сейчас не может обрабатывать изображения и документы. С файлом всё в порядке; "
            + "попробуйте позже. Причина — в журнале сервера."
    )
    static let internalError = Text(
        "The server has made an error. The cause is in its log.",
        ru: "На сервере произошла ошибка. Причина — в его журнале."
    )

    static let noResponse = Text(
        "The service cannot be reached at the moment.",
        ru: "Связи с сервисом сейчас нет."
    )
    static let noCopy = Text(
        "The service cannot be reached at the moment, and this server has no copy.",
        ru: "Связи с сервисом сейчас нет, а на этом сервере нет копии."
    )

    /// The accepted values of a parameter; in English only if users cannot act on them.
    static func parameter(_ name: String, _ accepted: Text) -> Text {
        guard accepted.isTranslated else { return "Parameter \(name): \(accepted)." }
        return Text("Parameter \(name): \(accepted.english).", ru: "Параметр \(name): \(accepted.russian).")
    }

    /// The words by which a search found something, in place of those that were typed.
    static func results(for words: String) -> Text {
        Text("Showing results for “\(words)”.", ru: "Показаны результаты по запросу «\(words)».")
    }

    /// When stale data was received, and why there is none newer. With an age in minutes, the body would change each
    /// minute.
    static func freshness(of provenance: Provenance) -> Text {
        let why = staleReason(provenance)
        guard let date = provenance.contentFetchedAt ?? provenance.validatedAt,
            let time = CivilTime(date, in: ClientTimeZone.current)
        else { return Text("Not up to date: \(why.english).", ru: "Данные могли устареть: \(why.russian).") }
        let received = time.text("DD.MM.YYYY hh:mm") + (ClientTimeZone.current == nil ? " UTC" : "")
        guard provenance.source != .bundled else {
            return Text("Recorded \(received): \(why.english).", ru: "Записано \(received): \(why.russian).")
        }
        return Text("Received \(received): \(why.english).", ru: "Получено \(received): \(why.russian).")
    }

    private static func staleReason(_ provenance: Provenance) -> Text {
        let status = provenance.cacheStatus
        return switch status?.detail {
        case _ where provenance.offline:
            Text("the service cannot be reached at the moment", ru: "связи с сервисом сейчас нет")
        case _ where provenance.pausedUntil != nil: Text("the service asks to wait", ru: "сервис просит подождать")
        case "stale-if-error" where status?.forwardStatus == 429:
            Text("the service asks to wait", ru: "сервис просит подождать")
        case "stale-if-error": Text("the service does not work at the moment", ru: "сервис сейчас не работает")
        case "bad-response":
            Text("the service did not respond as expected", ru: "сервис ответил не так, как ожидалось")
        case "storage-full", "storage-failed":
            Text("newer data could not be stored", ru: "новые данные не удалось сохранить")
        default: Text("newer data has not arrived yet", ru: "новые данные ещё не пришли")
        }
    }

    /// A request that a reset of the server has overtaken.
    package static let overtakenByReset = Text(
        "All state was reset while this request was under way.",
        ru: "Пока выполнялся запрос, всё состояние сервера было сброшено."
    )

    static let noSession = Text("You were logged out. Please log in again.", ru: "Сеанс завершён. Войдите снова.")
}

// Texts about devices and their pairing.
extension Text {
    static let pairDevice = Text("Pair a device", ru: "Подключить устройство")
    static let unpair = Text("Unpair", ru: "Отключить")
    static let confirmUnpairing = Text(
        "Unpair this device? What it is loading is cut off, and it needs a new code to come back.",
        ru: "Отключить это устройство? Его загрузки прервутся, для возвращения понадобится новый код."
    )
    static let pairingRequired = Text(
        "This device is not paired with the server. Open /pair and enter the code that the server shows.",
        ru: "Это устройство не подключено к серверу. Откройте /pair и введите код, который показывает сервер."
    )
    static let wrongCode = Text(
        "This is not the code that the server shows now. A code has eight characters and is good once.",
        ru: "Сервер сейчас показывает другой код. В коде восемь знаков, и он действует один раз."
    )
    static let lateCode = Text(
        "This code was right, but its ten minutes are over. Have the server make a new one.",
        ru: "Код верный, но его десять минут истекли. Создайте на сервере новый."
    )
    static let tooManyCodes = Text(
        "There were too many wrong codes from this address. Wait some minutes.",
        ru: "С этого адреса введено слишком много неверных кодов. Подождите несколько минут."
    )
    static let pairingIsOff = Text(
        "This server pairs no devices: its setting http.access is not pairing.",
        ru: "Этот сервер не подключает устройства: настройка http.access — не pairing."
    )
    static let tooManyDevices = Text(
        "There are \(DeviceStore.maximum) devices already. Unpair one first.",
        ru: "Уже подключено \(DeviceStore.maximum) устройств. Сначала отключите одно из них."
    )
    static let localOnly = Text(
        """
        This is possible on the server's own machine only, at http://larder.localhost or with larder pair and \
        devices.
        """,
        ru: "Это можно сделать только на самом сервере: на http://larder.localhost или командами larder pair и devices."
    )
    static let otherProfile = Text(
        "This device was paired for another profile.",
        ru: "Это устройство подключено для другого профиля."
    )
    static let noDevice = Text("There is no such device.", ru: "Такого устройства нет.")
    static let deviceNameForm = Text(
        "The name of a device has 1 to \(Device.longestName) characters.",
        ru: "В имени устройства от 1 до \(Device.longestName) знаков."
    )
}

// How much is stored, and how much may be.
extension Text {
    /// Returns a number as each language writes it, with two digits of its fraction at most.
    package static func number(_ value: Double) -> Text { number(Decimal(value)) }

    /// Returns a number as each language writes it: digits in groups of three, and a point or a comma.
    ///
    /// - Parameter decimals: The fewest and the most digits of the fraction; those beyond are rounded.
    package static func number(_ value: Decimal, decimals: ClosedRange<Int> = 0...2) -> Text {
        var (value, rounded) = (value, Decimal())
        NSDecimalRound(&rounded, &value, decimals.upperBound, .plain)
        let parts = "\(rounded.magnitude)".split(separator: ".")
        let (digits, sign) = (parts[0], rounded < 0 ? "-" : "")
        let fraction = parts.count > 1 ? String(parts[1]) : ""
        let padded = fraction + String(repeating: "0", count: max(0, decimals.lowerBound - fraction.utf8.count))
        func text(_ separator: String, _ point: String) -> String {
            let grouped = digits.enumerated().map { index, digit in
                index > 0 && (digits.count - index) % 3 == 0 ? separator + String(digit) : String(digit)
            }
            return sign + grouped.joined() + (padded.isEmpty ? "" : point + padded)
        }
        return Text(text(",", "."), ru: text("\u{A0}", ","))
    }

    /// `812 bytes`, `48 KB`, `1.5 MB`: powers of 1000, as file managers of phones count.
    package static func size(_ bytes: Int) -> Text {
        if bytes == 1 { return Text("1 byte", ru: "1 байт") }
        if bytes < 1000 { return Text("\(bytes) bytes", ru: "\(bytes) байт") }
        let units = [(1000, "KB", "КБ"), (1_000_000, "MB", "МБ"), (1_000_000_000, "GB", "ГБ")]
        let (unit, name, russian) = units.first { bytes < $0.0 * 1000 } ?? units[2]
        let tenths = (bytes / unit) * 10 + (bytes % unit * 10 + unit / 2) / unit
        guard tenths < 100, tenths % 10 != 0 else {
            return Text("\((tenths + 5) / 10) \(name)", ru: "\((tenths + 5) / 10) \(russian)")
        }
        let (whole, tenth) = (tenths / 10, tenths % 10)
        return Text("\(whole).\(tenth) \(name)", ru: "\(whole),\(tenth) \(russian)")
    }

    static let quotaIsUsedUp = Text("No space left", ru: "Место закончилось")
    static let notSavedYet = Text("Not saved yet", ru: "Ещё не сохранено")

    /// Names the owner of the limit, and a way to make room.
    ///
    /// - Parameter added: bytes of the refused data; nil if they are not known yet.
    static func quotaExceeded(_ quota: StorageQuota, _ usage: StorageUsage, added: Int?) -> Text {
        let (most, stored) = (size(quota.bytes), size(usage.bytes))
        let isAccount = quota.owner == .account
        let (owner, russian) = isAccount ? ("account", "учётной записи") : ("profile", "профилю")
        var text = Text(
            "This \(owner) may store \(most.english) here and has \(stored.english), so nothing was changed",
            ru: "\(isAccount ? "Этой" : "Этому") \(russian) здесь отведено \(most.russian), "
                + "занято \(stored.russian); ничего не изменено"
        )
        if let more = added.map(size) {
            text = text + Text("; \(more.english) more were needed", ru: ", нужно ещё \(more.russian)")
        }
        text = text + Text(". The server's disk is not the limit.", ru: ". Дело не в диске сервера.")
        if usage.trash > 0 {
            let trash = size(usage.trash)
            text =
                text
                + Text(
                    " \(trash.english) of it are in the trash, which can be emptied.",
                    ru: " Из них \(trash.russian) — в корзине, её можно очистить."
                )
        }
        guard let drafts = usage.drafts, drafts > 0 else { return text }
        return text
            + Text(
                " \(size(drafts).english) of it are not saved yet.",
                ru: " Из них \(size(drafts).russian) ещё не сохранено."
            )
    }
}
