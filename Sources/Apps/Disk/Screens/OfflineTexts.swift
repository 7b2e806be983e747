import Screens

extension Text {
    static let addToOffline = Text("Add to offline", ru: "Добавить в офлайн")
    static let deleteFromOffline = Text("Delete from offline", ru: "Удалить из офлайна")
    static let offline = Text("Offline", ru: "Офлайн")
    static let nothingOffline = Text(
        "Files and folders that you add to offline open without the Internet",
        ru: "Файлы и папки, добавленные в офлайн, открываются без интернета"
    )
}

extension OfflineState {
    /// The state for the user.
    var text: Text {
        switch self {
        case .waiting: Text("Waiting for download", ru: "Ожидает загрузки")
        case .fetching: Text("Downloading", ru: "Загружается")
        case .kept: Text("Available offline", ru: "Доступно офлайн")
        case .outOfDate: Text("Waiting for update", ru: "Ожидает обновления")
        case .failed: Text("Not downloaded", ru: "Не загружено")
        case .tooLarge: Text("Not enough space", ru: "Недостаточно места")
        }
    }
}

extension OfflineFailure {
    /// The reason for the user.
    var text: Text {
        switch self {
        case .tooLarge:
            Text("There is not enough space for offline files", ru: "Недостаточно места для офлайн-файлов")
        case .tooManyFiles:
            Text("There are too many files to keep offline", ru: "Слишком много файлов для офлайн-доступа")
        case .sizeUnknown: Text("The size of the file is not known", ru: "Размер файла неизвестен")
        case .sessionExpired: Text("Log in again", ru: "Войдите снова")
        case .forbidden:
            Text(
                "Yandex Disk does not allow this file to be downloaded",
                ru: "Яндекс Диск не разрешает скачать этот файл"
            )
        case .unavailable:
            Text(
                "Yandex Disk does not respond. Trying again later",
                ru: "Яндекс Диск не отвечает. Попробуем позже"
            )
        case .damaged:
            Text("The file arrived damaged. Trying again later", ru: "Файл получен повреждённым. Попробуем позже")
        case .storageFull:
            Text("The disk of the server is full. Trying again later", ru: "Диск сервера заполнен. Попробуем позже")
        case .storage:
            Text("The file could not be saved. Trying again later", ru: "Файл не удалось сохранить. Попробуем позже")
        }
    }
}
