package import AppInterface
import Database
package import Screens
package import Settings
import Upstream

extension NotesApp {
    /// The people API.
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
    package static let settings = [
        Setting(
            "freshness.places_s",
            .integer(0...31_536_000),
            default: "2592000",
            "freshness time of the geocoder's responses"
        ),
        Setting("people.path", .text, default: "/api/729a5c80", "path of the people below upstreams.people.url"),
        Setting(
            "people.key",
            .text,
            default: "",
            "key of the people API, sent as X-API-Key; best set in the environment or the file"
        ),
        Setting("people.count", .integer(1...5000), default: "120", "number of people that are fetched"),
        Setting(
            "notes.scrypt_logarithm",
            .integer(10...20),
            default: "15",
            "cost of hashing a password: each step doubles time and memory (15: 32 MiB)"
        ),
        Setting(
            "notes.attempts_per_account",
            .integer(1...100_000),
            default: "10",
            "failed logins for one user name from one client address before it has to wait; ten times as many from all"
        ),
        Setting(
            "notes.attempts_per_address",
            .integer(1...100_000),
            default: "100",
            "failed logins from one client address before it has to wait"
        ),
        Setting(
            "notes.attempt_window_s",
            .integer(1...86_400),
            default: "900",
            "time after which all attempts are available again"
        ),
        Setting(
            "notes.trash_days",
            .integer(0...3650),
            default: "30",
            "days for which deleted notes can be restored; 0 deletes them at once"
        ),
        Setting(
            "notes.quota_mb",
            .integer(0...1_073_741_824),
            default: "2048",
            "what the notes of an account may take, those in the trash included, in MiB"
        ),
    ]
}

extension NotesApp {
    /// Returns the operations on accounts for operators.
    ///
    /// - Throws: `SettingError` if a setting cannot be read.
    package static func accountAdministration(
        _ store: AccountStore,
        _ sessions: SessionStore,
        _ settings: SettingValues
    ) throws -> (any AccountAdministration)? {
        let book: any NoteBook =
            switch store {
            case .local(let database): NoteStore(database)
            case .shared(let access): SharedNotes(access)
            }
        return NoteAccountAdministration(
            book: book,
            sessions: sessions,
            cost: .scrypt(logarithm: try Options(settings).scryptLogarithm)
        )
    }
}

extension PeopleClient.Options {
    /// Reads the options of the people API.
    init(_ settings: SettingValues) throws(SettingError) {
        self.init(
            path: try settings.text("people.path"),
            key: Secret(try settings.text("people.key")),
            count: try settings.integer("people.count")
        )
    }
}

extension Duration {
    /// Days of 24 hours.
    fileprivate static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}

extension NotesApp.Options {
    /// Reads the options of the app.
    init(_ settings: SettingValues) throws(SettingError) {
        self.init(
            scryptLogarithm: try settings.integer("notes.scrypt_logarithm"),
            attemptsPerAccount: try settings.integer("notes.attempts_per_account"),
            attemptsPerAddress: try settings.integer("notes.attempts_per_address"),
            attemptWindow: try settings.seconds("notes.attempt_window_s"),
            trashLifetime: .days(try settings.integer("notes.trash_days")),
            quotaBytes: try settings.mebibytes("notes.quota_mb")
        )
    }
}
