import Screens
import Upstream

extension Text {
    static let outbox = Text("Outbox", ru: "Исходящие")
    static let outboxEmpty = Text(
        "No changes are waiting for Yandex Disk",
        ru: "Нет изменений, ожидающих отправки на Яндекс Диск"
    )
    static let leaveInOutbox = Text("Send later", ru: "Отправить позже")
    static let takeBack = Text("Take back", ru: "Отменить")
    static let keepBoth = Text("Keep both", ru: "Оставить оба")
    static let overwriteRemote = Text("Overwrite", ru: "Заменить")
    static let discardLocal = Text("Discard", ru: "Отказаться")
    static let outboxFull = Text("The outbox is full", ru: "Исходящие заполнены")
    static let outboxIsFull = Text(
        "No more changes can wait for Yandex Disk.",
        ru: "Больше изменений не может ожидать отправки на Яндекс Диск."
    )
    static let outboxState = Text("The outbox does not allow this now", ru: "Сейчас это невозможно")

    static func outboxLimit(_ operations: Int, _ mebibytes: Int) -> Text {
        Text(
            "At most \(operations) changes and \(mebibytes) MiB wait for Yandex Disk. Nothing was kept.",
            ru: "Отправки на Яндекс Диск ожидают не больше \(operations) изменений и \(mebibytes) МиБ. "
                + "Ничего не сохранено."
        )
    }

    static func heldUp(_ name: String) -> Text {
        Text(
            "A change of \(name) is waiting in the outbox. Nothing was changed.",
            ru: "Изменение «\(name)» ожидает отправки. Ничего не изменено."
        )
    }

    static func notKnownHere(_ name: String) -> Text {
        Text(
            "\(name) was not seen here yet, and Yandex Disk cannot be reached. Nothing was changed.",
            ru: "«\(name)» здесь ещё не открывали, а Яндекс Диск недоступен. Ничего не изменено."
        )
    }

    static func laterWrites(_ count: Int) -> Text {
        Text(
            "Later changes need this one: \(count). Take them back first.",
            ru: "От этого зависят более поздние изменения: \(count). Сначала отмените их."
        )
    }

    static func losesWrites(_ count: Int) -> Text {
        Text(
            "Changes that have not been sent to Yandex Disk will be lost: \(count).",
            ru: "Неотправленные на Яндекс Диск изменения будут потеряны: \(count)."
        )
    }

    static func forgetsUpload(_ name: String) -> Text {
        Text(
            "\(name) has not been sent to Yandex Disk. Larder will delete it.",
            ru: "«\(name)» ещё не на Яндекс Диске. Larder удалит это."
        )
    }

    static func forgetsDoubtfulUpload(_ name: String) -> Text {
        Text(
            "It is not known whether \(name) is on Yandex Disk. Larder will delete its copy.",
            ru: "Неизвестно, есть ли «\(name)» на Яндекс Диске. Larder удалит свою копию."
        )
    }

    static func replacesRemote(_ name: String) -> Text {
        Text(
            "What is on Yandex Disk as \(name) will be replaced.",
            ru: "То, что на Яндекс Диске называется «\(name)», будет заменено."
        )
    }

    static func deletesRemote(_ name: String) -> Text {
        Text(
            "\(name) will be deleted as it is on Yandex Disk now.",
            ru: "«\(name)» будет удалено таким, какое оно на Яндекс Диске сейчас."
        )
    }

    static func dropsLocal(_ name: String) -> Text {
        Text("Your change of \(name) will be dropped.", ru: "Ваше изменение «\(name)» будет отброшено.")
    }

    static func taskKind(_ kind: String) -> Text {
        switch kind {
        case "download": Text("Download", ru: "Скачивание")
        case "keep_offline": Text("Offline copy", ru: "Копия офлайн")
        case "copy": Text("Copy", ru: "Копирование")
        case "restore": Text("Restore", ru: "Восстановление")
        case "purge": Text("Delete for good", ru: "Удаление навсегда")
        case "folder": Text("New folder", ru: "Новая папка")
        case "upload": Text("Upload", ru: "Загрузка")
        case "rename": Text("Rename", ru: "Переименование")
        case "move": Text("Move", ru: "Перемещение")
        case "delete": Text("Delete", ru: "Удаление")
        case "publish": Text("Share link", ru: "Публикация")
        default: Text("Unpublish", ru: "Снятие публикации")
        }
    }

    /// Why a write is not done.
    static func outboxReason(_ reason: String) -> Text {
        switch reason {
        case "discarded": Text("It was discarded", ru: "Отменено")
        case "changed": Text("It has changed on Yandex Disk", ru: "На Яндекс Диске это изменилось")
        case "moved":
            Text("It was renamed or moved on Yandex Disk", ru: "На Яндекс Диске это переименовали или переместили")
        case "gone": Text("It is not on Yandex Disk any more", ru: "На Яндекс Диске этого больше нет")
        case "upstream-session-expired": OfflineFailure.sessionExpired.text
        case "upstream-forbidden": Text("Yandex Disk does not allow this", ru: "Яндекс Диск не разрешает это")
        case "not-found": Text("The folder is not on Yandex Disk", ru: "Такой папки на Яндекс Диске нет")
        case "target-exists": Text("This name is taken on Yandex Disk", ru: "Такое имя на Яндекс Диске занято")
        case "locked":
            Text("Yandex Disk is using this. Trying again later", ru: "Занято на Яндекс Диске. Попробуем позже")
        case "upload-limit":
            Text("The limit for uploads to Yandex Disk is reached", ru: "Лимит загрузок на Яндекс Диск исчерпан")
        case "upstream-read-only":
            Text(
                "Yandex Disk is read-only for maintenance. Trying again later",
                ru: "На Яндекс Диске технические работы. Попробуем позже"
            )
        case "rate-limited":
            Text("Yandex Disk asks to wait. Trying again later", ru: "Яндекс Диск просит подождать. Попробуем позже")
        case "upstream-storage-full":
            Text("Yandex Disk is full. Trying again later", ru: "На Яндекс Диске нет места. Попробуем позже")
        case "too-large":
            Text("The file is larger than Yandex Disk accepts", ru: "Файл больше, чем принимает Яндекс Диск")
        case "under-way":
            Text("Yandex Disk has it and is not ready yet", ru: "Яндекс Диск получил это и ещё обрабатывает")
        case "outcome-unknown", "upstream-bad-response":
            Text(
                "It is not known whether Yandex Disk has done it. It will be looked at",
                ru: "Неизвестно, выполнил ли это Яндекс Диск. Проверим"
            )
        case "not-stored", "storage-full", "storage-failed":
            Text(
                "The server could not store it. Trying again later",
                ru: "Сервер не смог сохранить это. Попробуем позже"
            )
        case "upstream-unavailable": OfflineFailure.unavailable.text
        default: Text("Yandex Disk has refused it", ru: "Яндекс Диск отказал")
        }
    }
}

extension OutboxState {
    var text: Text {
        switch self {
        case .queued: Text("Waiting for Yandex Disk", ru: "Ожидает Яндекс Диска")
        case .running: Text("Being sent", ru: "Отправляется")
        case .processing: Text("Yandex Disk is working on it", ru: "Яндекс Диск обрабатывает")
        case .waiting: Text("Will be tried again", ru: "Будет повторено")
        case .aside: Text("Fails again and again", ru: "Не удаётся раз за разом")
        case .conflict: Text("Needs a decision", ru: "Нужно решение")
        case .failed: Text("Refused", ru: "Отклонено")
        case .done: Text("Done", ru: "Готово")
        }
    }
}

extension ConflictChoice {
    /// The choice for the user: an item is overwritten only at the target of the write.
    func title(for work: QueuedWrite) -> Text {
        switch self {
        case .keepBoth: .keepBoth
        case .overwrite: work.conflictsAtTarget ? .overwriteRemote : Self.anyway(work.name)
        case .discard: .discardLocal
        }
    }

    /// The choice to carry out a write although its subject was changed.
    private static func anyway(_ kind: String) -> Text {
        switch kind {
        case "rename": Text("Rename anyway", ru: "Всё равно переименовать")
        case "delete": Text("Delete anyway", ru: "Всё равно удалить")
        case "publish": Text("Share anyway", ru: "Всё равно поделиться")
        case "unpublish": Text("Unpublish anyway", ru: "Всё равно снять публикацию")
        default: Text("Move anyway", ru: "Всё равно переместить")
        }
    }
}
