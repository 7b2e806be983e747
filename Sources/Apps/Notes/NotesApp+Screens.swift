package import Screens

extension NotesApp {
    private typealias Label = ScreenForm.Label

    package static let screens = [
        ScreenForm("notes.launch", .notes),
        ScreenForm(
            "notes.session",
            .notes,
            [.name("name"), Label("alert"), Label("message"), Label("button")]
        ),
        ScreenForm(
            "notes.list",
            .notes,
            tab: "/v1/notes",
            search: "/v1/notes",
            [.name("first_line"), .name("name"), Label("modified_text"), place]
        ),
        ScreenForm(
            "notes.map",
            Text("Map", ru: "Карта"),
            tab: "/v1/notes/map",
            [
                .name("title"), .name("name"), Label("subtitle"), Label("pins"),
                Label("clusters"), Label("count", .notes),
                Label("center", Text("Centre", ru: "Середина")),
            ]
        ),
        ScreenForm(
            "notes.people",
            Text("People", ru: "Люди"),
            tab: "/v1/notes/people",
            search: "/v1/notes/people",
            [.name("full_name"), .picture("avatar_url")]
        ),
        ScreenForm(
            "notes.trash",
            .trash,
            tab: "/v1/notes/trash",
            [.name("first_line"), .name("name"), place] + Label.ofTrash
        ),
        ScreenForm(
            "notes.details",
            Text("Note", ru: "Заметка"),
            [
                .name("name"), Label("body"), place, Label("last_edited_text"),
                Label("created_text", .created),
            ]
        ),
        ScreenForm(
            "notes.person",
            Text("Person", ru: "Человек"),
            [
                .picture("avatar_url"), Label("email_text", Text("E-mail", ru: "Эл. почта")),
                Label("gender_text", Text("Gender", ru: "Пол")),
            ]
        ),
        ScreenForm("notes.places", .place, search: "/v1/notes/places", [.name("text")]),
        ScreenForm("notes.cities", Text("Cities", ru: "Города"), [.name("name")]),
    ]

    private static let place = Label("location", .place)

    /// The login and the registration.
    static let logins = [
        credentials("login", Text("Sign In", ru: "Войти")),
        credentials("register", Text("Sign Up", ru: "Зарегистрироваться")),
    ]

    private static func credentials(_ mode: String, _ title: Text) -> Action {
        Action(
            id: mode,
            title: title,
            method: "POST",
            href: "/v1/notes/session",
            body: ["mode": .text(mode)],
            fields: [
                Action.Field("username", .text, Text("User name", ru: "Имя пользователя")),
                Action.Field("password", .password, .password),
            ]
        )
    }
}

extension FarewellScreen {
    static let ofNotes = FarewellScreen(route: .login(to: NotesApp.name), logins: NotesApp.logins)
}

extension PersonScreen: TitledScreen {
    var screenTitle: Text? { Text(verbatim: fullName) }
}
