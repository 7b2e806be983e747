import HTTPTypes
public import Screens
public import Upstream

/// The Notes app: notes with their places, on a list and on a map, and a directory of people.
public struct NotesApp: Sendable {
    /// The settings `notes.*`.
    public struct Options: Sendable {
        /// Logarithm of scrypt's N: each step doubles time and memory of hashing a password.
        public var scryptLogarithm: Int
        /// Wrong passwords in a row for one account name.
        public var attemptsPerAccount: Int
        /// Wrong passwords in a row from one address.
        public var attemptsPerAddress: Int
        /// Time after which all attempts are available again.
        public var attemptWindow: Duration

        /// Creates options.
        public init(
            scryptLogarithm: Int = 15,
            attemptsPerAccount: Int = 10,
            attemptsPerAddress: Int = 100,
            attemptWindow: Duration = .seconds(900)
        ) {
            self.scryptLogarithm = scryptLogarithm
            self.attemptsPerAccount = attemptsPerAccount
            self.attemptsPerAddress = attemptsPerAddress
            self.attemptWindow = attemptWindow
        }
    }

    private let sessions: NoteSessions
    private let listing: NoteListing
    private let editing: NoteEditing
    private let mapping: NoteMapping
    private let places: NotePlaces
    private let people: NotePeople

    /// Creates the app.
    ///
    /// - Parameters:
    ///   - geocoder: without one, places are those of the gazetteer and of the account's notes.
    public init(
        store: NoteStore,
        people: PeopleClient,
        geocoder: GeocoderClient?,
        gazetteer: Gazetteer,
        sessions: SessionStore,
        events: EventStream,
        options: Options,
        clock: WallClock
    ) {
        let limits = LoginAttempts.Limits(
            perAccount: options.attemptsPerAccount,
            perAddress: options.attemptsPerAddress,
            window: options.attemptWindow
        )
        self.sessions = NoteSessions(
            store: store,
            sessions: sessions,
            hasher: PasswordHasher(cost: .scrypt(logarithm: options.scryptLogarithm)),
            attempts: LoginGate(limits),
            clock: clock
        )
        listing = NoteListing(store: store, clock: clock)
        editing = NoteEditing(store: store, events: events, clock: clock)
        mapping = NoteMapping(store: store, clock: clock)
        places = NotePlaces(store: store, gazetteer: gazetteer, geocoder: geocoder, clock: clock)
        self.people = NotePeople(store: store, client: people, events: events, clock: clock)
    }

    /// The routes of the app.
    public var routes: [Route] {
        let member = Route.Access.session(app: "notes")
        let (notes, note, directory) = ("/v1/notes", "/v1/notes/{id}", "/v1/notes/people")
        let bytes = NoteChanges.maximumBodyBytes
        return [
            Route(.get, "/v1/notes/launch", "notes.launch", sessions.launch),
            Route(.post, "/v1/notes/session", "notes.session", sessions.open),
            Route(.get, "/v1/notes/session", "notes.session", access: member, sessions.show),
            Route(.delete, "/v1/notes/session", "notes.session", access: member, sessions.close),
            Route(.get, notes, "notes.list", access: member, listing.list),
            Route(.post, notes, "notes.details", access: member, maximumBodyBytes: bytes, editing.create),
            Route(.get, "/v1/notes/map", "notes.map", access: member, mapping.map),
            Route(.get, "/v1/notes/places", "notes.places", access: member, places.suggest),
            Route(.get, directory, "notes.people", access: member, people.list),
            Route(.get, "\(directory)/{id}", "notes.person", access: member, people.person),
            Route(.get, "\(directory)/{id}/avatar", "notes.avatar", access: member, people.avatar),
            Route(.get, note, "notes.details", access: member, editing.details),
            Route(.patch, note, "notes.details", access: member, maximumBodyBytes: bytes, editing.change),
            Route(.delete, note, "notes.list", access: member, editing.delete),
        ]
    }
}
