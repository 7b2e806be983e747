import Screens

extension DownloadJob.Status {
    /// The status for the user.
    var text: Text {
        switch self {
        case .queued: Text("Waiting", ru: "Ожидает")
        case .running: Text("Downloading", ru: "Скачивается")
        case .done: Text("Downloaded", ru: "Скачано")
        case .failed: Text("Not downloaded", ru: "Не скачано")
        }
    }
}

extension DownloadJob.Failure {
    /// The reason for the user.
    var text: Text {
        switch self {
        case .sessionExpired: OfflineFailure.sessionExpired.text
        case .changed: Text("The file is gone or has changed", ru: "Файл удалён или изменился")
        case .forbidden: OfflineFailure.forbidden.text
        case .unreachable: Text("Yandex Disk does not respond", ru: "Яндекс Диск не отвечает")
        case .damaged: Text("The file arrived damaged", ru: "Файл получен повреждённым")
        case .brokenOff: Text("The connection broke", ru: "Соединение прервалось")
        case .tooLarge: Text("The file is too large to be stored", ru: "Файл слишком большой, его не сохранить")
        case .storage: Text("The file could not be saved", ru: "Файл не удалось сохранить")
        }
    }
}

extension DiskOperation.Status {
    /// The status for the user.
    var text: Text {
        switch self {
        case .running: Text("In progress", ru: "Выполняется")
        case .done: Text("Done", ru: "Готово")
        case .failed: Text("Failed", ru: "Не удалось")
        }
    }
}
