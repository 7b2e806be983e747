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

    /// Returns the operations on accounts for operators.
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
