import Concurrency
import Screens
import Storage

/// The parts of the app: features take them as one value.
struct Notes: Sendable {
    let store: NoteStore
    let sessions: SessionStore
    let passwords: NotePasswords
    let addresses: NoteAddresses
    let people: PeopleClient
    let events: EventStream
    /// The folder of uploads and exports.
    let scratch: ScratchFolder
    let quota: StorageQuota
    /// How long deleted notes stay in the trash; zero if there is none.
    let trashLifetime: Duration
    let clock: WallClock

    /// - Throws: the errors of the bundled gazetteer if it cannot be read.
    init(_ context: AppContext) throws {
        let settings = context.settings
        (sessions, events, scratch) = (context.sessions, context.events, context.scratch)
        clock = context.retention.clock
        store = NoteStore(context.users)
        let geocoder = context.optionalUpstream(NotesApp.geocoder).map {
            GeocoderClient(upstream: $0, freshness: settings[NotesApp.placesFreshness])
        }
        addresses = NoteAddresses(gazetteer: try Gazetteer.bundled(), geocoder: geocoder)
        people = PeopleClient(upstream: try context.upstream(NotesApp.people), settings)
        let limits = LoginAttempts.Limits(
            perAccount: settings[NotesApp.attemptsPerAccount],
            perAddress: settings[NotesApp.attemptsPerAddress],
            window: settings[NotesApp.attemptWindow]
        )
        passwords = NotePasswords(
            hasher: PasswordHasher(cost: .scrypt(logarithm: settings[NotesApp.scryptLogarithm])),
            attempts: LoginLimits(store.users, limits),
            clock: clock
        )
        quota = StorageQuota(bytes: settings[NotesApp.quota], of: .account)
        trashLifetime = settings[NotesApp.trashLifetime]
    }
}
