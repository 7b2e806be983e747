package import Screens

extension DiskApp {
    private typealias Label = ScreenForm.Label

    package static let screens = [
        ScreenForm("disk.launch", .disk),
        ScreenForm("disk.onboarding", .disk, [Label("pages"), .picture("image_url"), Label("text")]),
        ScreenForm(
            "disk.session",
            .disk,
            [
                .name("name"), Label("authorize_url", nil, .link), Label("alert"),
                Label("message"), Label("button"),
            ]
        ),
        ScreenForm(
            "disk.profile",
            Text("Profile", ru: "Профиль"),
            tab: "/v1/disk/profile",
            [
                .picture("chart_url"), Label("total_text", Text("Space", ru: "Место")),
                Label("used_text"), Label("available_text"), Label("trash_text"),
            ]
        ),
        ScreenForm("disk.recent", .recent, tab: "/v1/disk/recent", search: "/v1/disk/search", row),
        ScreenForm(
            "disk.files",
            Text("All files", ru: "Все файлы"),
            tab: "/v1/disk/files",
            search: "/v1/disk/search",
            row + [Label("results"), .name("path"), Label("problem_text")]
        ),
        ScreenForm("disk.search", .search, search: "/v1/disk/search", row),
        ScreenForm("disk.published", .publishedFiles, tab: "/v1/disk/published", row),
        ScreenForm("disk.offline", Text("Offline", ru: "Офлайн"), tab: "/v1/disk/offline", offline),
        ScreenForm("disk.outbox", .outbox, tab: "/v1/disk/outbox", outbox),
        ScreenForm(
            "disk.trash",
            .trash,
            tab: "/v1/disk/trash",
            [
                .name("name"), Label("size_text", .size),
                Label("deleted_text", Text("Deleted", ru: "Удалено")),
                Label("origin", Text("Was in", ru: "Находилось в")),
            ]
        ),
        ScreenForm("disk.file", .file, row + file + task),
        ScreenForm("disk.operation", .outbox, [.name("path"), Label("target")] + task),
    ]

    private static let row: [Label] = [
        .name("name"), .picture("preview_url"), Label("size_text", .size),
        Label("created_text", .created),
        Label("modified_text", Text("Changed", ru: "Изменено")),
        Label("folder", .folder),
        Label("published", Text("Published", ru: "Опубликовано")),
        Label("public_url", .shareLink, .link),
        Label("downloaded", Text("Downloaded", ru: "Скачано")),
        Label("kept_offline", Text("Kept offline", ru: "Доступно офлайн")),
        Label("pending"), Label("kind_text"), Label("state_text"),
    ]

    private static let file: [Label] = [
        .picture("page_url"), Label("content_url", .file, .link), Label("document"),
        Label("pdf_url", nil, .link), Label("reason"), Label("alert"),
        .name("title"), Label("message"),
    ]

    private static let task = [
        Label("task"), Label("kind_text"), Label("state_text"), Label("progress_text"), Label("problem_text"),
    ]

    private static let offline: [Label] = [
        .name("name"), Label("state_text"), Label("reason_text"),
        Label("progress_text"), Label("size_text", .size),
        Label("kept_text", Text("Downloaded", ru: "Скачано")), Label("bytes_text", .stored),
        Label("budget_text", Text("At most", ru: "Не больше")),
    ]

    private static let outbox: [Label] = [
        .name("kind_text"), Label("path"), Label("to", Text("To", ru: "Куда")),
        Label("size_text", .size), Label("queued_text", .created),
        Label("state_text"), Label("attempts", Text("Attempts", ru: "Попыток")),
        Label("next_attempt_text", Text("Next attempt", ru: "Следующая попытка")),
        Label("progress_text"), Label("problem_text"), Label("conflict"),
        Label("base", Text("When you changed it", ru: "Когда вы меняли")),
        Label("theirs", Text("On Yandex Disk now", ru: "Сейчас на Яндекс Диске")),
        Label("ours", Text("With your change", ru: "С вашим изменением")),
        Label("modified_text", Text("Changed", ru: "Изменено")), Label("bytes_text", .stored),
    ]

}

extension Disk {
    var logins: [Action] {
        func login(_ mode: String, _ title: Text, _ fields: [Action.Field]) -> Action {
            let body = ["mode": Action.Constant.text(mode)]
            return Action(id: mode, title: title, method: "POST", href: "/v1/disk/session", body: body, fields: fields)
        }
        let token = login("oauth_token", .logIn, [Action.Field("access_token", .password, .accessToken)])
        guard oauth != nil else { return [token] }
        let code = Action.Field("code", .text, Text("Code", ru: "Код"))
        let state = Action.Field("state", .text, Text("State", ru: "Состояние"), required: false)
        return [
            Action(
                id: "authorize",
                title: Text("Log in with Yandex", ru: "Войти через Яндекс"),
                method: "POST",
                href: "/v1/disk/session/authorization"
            ),
            login("oauth_code", Text("Log in by code", ru: "Войти по коду"), [code, state]), token,
        ]
    }
}

extension FileScreen: TitledScreen {
    var screenTitle: Text? { Text(verbatim: row.name) }
}

extension RowListScreen: TitledScreen {
    var screenTitle: Text? { folder?.name }
}

extension Text {
    fileprivate static let file = Text("File", ru: "Файл")
    fileprivate static let folder = Text("Folder", ru: "Папка")
    fileprivate static let stored = Text("Stored", ru: "Занято")
    fileprivate static let logIn = Text("LOG IN", ru: "ВОЙТИ")
    fileprivate static let accessToken = Text("Access token of Yandex Disk", ru: "Токен доступа Яндекс Диска")
}
