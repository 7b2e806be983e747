package import Cluster
package import Screens
package import Storage
import Upstream

extension NotesApp {
    static let people = UpstreamDescription(
        "people",
        title: "the people API",
        url: "https://api.mockaroo.com",
        allowedHosts: ["robohash.org"]
    )
    /// The geocoder. Without it no place is found by its name but those that are bundled.
    static let geocoder = UpstreamDescription("geocoder", title: "the geocoder", url: nil, isOptional: true)
    package static let upstreams = [people, geocoder]
    package static let problems: [ProblemCode] = [.nameTaken]
    package static let records = [
        RecordTable("note", of: Note.self), RecordTable("notes_account", of: NoteAccount.self),
        RecordTable("notes_person", of: Person.self),
    ]

    static let placesFreshness = Setting(
        "freshness.places_s",
        .seconds(0...31_536_000),
        default: .days(30),
        "freshness time of the geocoder's responses"
    )
    static let peoplePath = Setting(
        "people.path",
        .text,
        default: "/api/729a5c80",
        "path of the people below upstreams.people.url"
    )
    static let peopleKey = Setting(
        "people.key",
        .text,
        default: "",
        "key of the people API, sent as X-API-Key; best set in the environment or the file"
    )
    static let peopleCount = Setting(
        "people.count",
        .integer(1...5000),
        default: 120,
        "number of people that are fetched"
    )
    static let scryptLogarithm = Setting(
        "notes.scrypt_logarithm",
        .integer(10...20),
        default: 15,
        "cost of hashing a password: each step doubles time and memory (15: 32 MiB)"
    )
    static let attemptsPerAccount = Setting(
        "notes.attempts_per_account",
        .integer(1...100_000),
        default: 10,
        "failed logins for one user name from one client address before it has to wait; ten times as many from all"
    )
    static let attemptsPerAddress = Setting(
        "notes.attempts_per_address",
        .integer(1...100_000),
        default: 100,
        "failed logins from one client address before it has to wait"
    )
    static let attemptWindow = Setting(
        "notes.attempt_window_s",
        .seconds(1...86_400),
        default: .seconds(900),
        "time after which all attempts are available again"
    )
    static let trashLifetime = Setting(
        "notes.trash_days",
        .days(0...3650),
        default: .days(30),
        "days for which deleted notes can be restored; 0 deletes them at once"
    )
    static let quota = Setting(
        "notes.quota_mb",
        .mebibytes(0...1_073_741_824),
        default: 2048 << 20,
        "what the notes of an account may take, those in the trash included, in MiB"
    )
    package static let settings: [any SettingDeclaration] = [
        placesFreshness, peoplePath, peopleKey, peopleCount, scryptLogarithm, attemptsPerAccount, attemptsPerAddress,
        attemptWindow, trashLifetime, quota,
    ]

    package static func accountAdministration(
        _ users: UserDatabase,
        _ sessions: SessionStore,
        _ settings: SettingValues
    ) throws -> (any AccountAdministration)? {
        NoteAccountAdministration(
            store: NoteStore(users),
            sessions: sessions,
            cost: .scrypt(logarithm: settings[scryptLogarithm])
        )
    }
}

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
            [.name("first_line"), .name("name"), Label("snippet"), Label("modified_text"), place]
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
            [.name("full_name"), .picture("avatar_url"), email]
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
                .picture("avatar_url"), email,
                Label("gender_text", Text("Gender", ru: "Пол")),
            ]
        ),
        ScreenForm("notes.places", .place, search: "/v1/notes/places", [.name("text")]),
        ScreenForm("notes.cities", Text("Cities", ru: "Города"), [.name("name")]),
    ]

    private static let email = Label("email_text", Text("E-mail", ru: "Эл. почта"))
    private static let place = Label("location", .place)

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
