package import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Logging
package import Screens
package import ServiceLifecycle
package import Storage
import Upstream

/// The Notes app: notes with their places, on a list and on a map, and a directory of people.
package struct NotesApp: App {
    /// Name of the app in paths, settings, sessions and events.
    package static let name = NoteStore.app
    /// Title of the app in `GET /v1`.
    package static let title = Text("Notes on a map", ru: "Заметки на карте")
    package static let migrations = NoteStore.migrations
    /// The app's tables without the indexes that each server derives from them.
    package static let replicated: JournalTables? = NoteStore.replicated

    let store: NoteStore
    let sessions: NoteSessions
    let listing: NoteList
    private let editing: NoteEditing
    private let transfer: NoteTransfer
    private let trash: NoteTrash
    private let mapping: NoteMapping
    private let accounts: NoteAccounts
    private let places: NotePlaces
    private let cities: NoteCities
    private let people: NotePeople
    private let expiry: ExpiryService
    let clock: WallClock

    /// Creates the app.
    ///
    /// - Throws: the errors of the bundled gazetteer if it cannot be read.
    package init(_ context: AppContext) throws {
        let (settings, events, logger) = (context.settings, context.events, context.logger)
        let (sessions, retention) = (context.sessions, context.retention)
        let gazetteer = try Gazetteer.bundled()
        let geocoder = context.optionalUpstream(Self.geocoder).map {
            GeocoderClient(upstream: $0, freshness: settings[Self.placesFreshness])
        }
        let store = NoteStore(context.users)
        self.store = store
        let clock = retention.clock
        let passwords = Self.passwords(store, settings, clock)
        sessions.letExpire(sessionsOf: Self.name)
        self.clock = clock
        let addresses = NoteAddresses(gazetteer: gazetteer, geocoder: geocoder)
        self.sessions = NoteSessions(store: store, sessions: sessions, passwords: passwords, clock: clock)
        accounts = NoteAccounts(store: store, sessions: sessions, passwords: passwords)
        editing = NoteEditing(
            store: store,
            addresses: addresses,
            events: events,
            clock: clock,
            trashLifetime: settings[Self.trashLifetime],
            quota: StorageQuota(bytes: settings[Self.quota], of: .account)
        )
        transfer = NoteTransfer(editing, scratch: context.scratch)
        listing = NoteList(store: store, clock: clock, quota: editing.quota)
        let trash = NoteTrash(store: store, events: events, clock: clock, lifetime: settings[Self.trashLifetime])
        self.trash = trash
        expiry = ExpiryService(of: "notes in the trash", by: retention, logger: logger, purge: trash.purgeDue(at:))
        mapping = NoteMapping(store: store, addresses: addresses, clock: clock, quota: editing.quota)
        places = NotePlaces(store: store, gazetteer: gazetteer, geocoder: geocoder, clock: clock)
        cities = NoteCities(gazetteer: gazetteer)
        people = NotePeople(
            store: store,
            client: PeopleClient(upstream: try context.upstream(Self.people), settings),
            events: events,
            clock: clock
        )
    }

    private static func passwords(_ store: NoteStore, _ settings: SettingValues, _ clock: WallClock) -> NotePasswords {
        let limits = LoginAttempts.Limits(
            perAccount: settings[attemptsPerAccount],
            perAddress: settings[attemptsPerAddress],
            window: settings[attemptWindow]
        )
        return NotePasswords(
            hasher: PasswordHasher(cost: .scrypt(logarithm: settings[scryptLogarithm])),
            attempts: LoginLimits(store.users, limits),
            clock: clock
        )
    }

    /// The notes of the account, and how much they are.
    package var userData: UserData? {
        let (store, quota) = (store, editing.quota)
        return UserData { owner, archive in
            guard let account = try owner.session?.noteAccount() else { return nil }
            var files = try NoteArchive(of: owner, in: archive)
            try store.forEachNote(of: account) { try files.append($0) }
            return try files.end(in: archive)
        } usage: { owner in
            try owner.session.map { session in
                let stored = try store.usage(account: try session.noteAccount())
                return AppUsage(.notes, of: session.name, stored, quota: quota, trash: Trash.notes.href)
            }
        }
    }

    /// The services that run beside the server.
    package var services: [any Service] { [expiry] }

    package static var routes: [AppRoute<Self>] {
        let (notes, note, directory) = ("/v1/notes", "/v1/notes/{id}", "/v1/notes/people")
        let bytes = NoteChanges.maximumBodyBytes
        return [
            Route(.get, "/v1/notes/launch", "notes.launch", { $0.sessions.launch }),
            Route(.post, "/v1/notes/session", "notes.session", { $0.sessions.open })
                .body("mode", "username", "password").unkeyed(),
            Route(.get, "/v1/notes/session", "notes.session", session: { $0.sessions.show }),
            Route(.delete, "/v1/notes/session", "notes.session", session: { $0.sessions.close }).unkeyed(),
            Route(.put, "/v1/notes/account/password", "notes.session", session: { $0.accounts.changePassword })
                .body("password", "new_password"),
            Route(.post, "/v1/notes/account/deletion", "notes.session", session: { $0.accounts.delete })
                .body("password").unkeyed(),
            Route(.get, notes, "notes.list", session: { $0.listing.list }).query(.page, "q", "tz"),
            Route(.post, notes, "notes.details", maximumBodyBytes: bytes, session: { $0.editing.create })
                .answering().query("tz")
                .body("body", .object("location", "lat", "lon", "name")),
            Route(.get, "/v1/notes/export", "notes.export", session: { $0.transfer.export }).query("format"),
            Route(.post, "/v1/notes/import", "notes.list", session: { $0.transfer.add }).answering().form("files"),
            Route(.get, "/v1/notes/map", "notes.map", session: { $0.mapping.map })
                .query("bbox", "cell", "zoom", "lat", "lon", "tz"),
            Route(.get, "/v1/notes/cities", "notes.cities", { $0.cities.show }).query("bbox", "limit"),
            Route(.get, "/v1/notes/places", "notes.places", session: { $0.places.suggest }).query("q", "refresh"),
            Route(.get, directory, "notes.people", session: { $0.people.list })
                .query("q", .page, "refresh", "replace"),
            Route(.get, "\(directory)/{id}", "notes.person", session: { $0.people.person })
                .query("refresh", "replace"),
            Route(.get, "\(directory)/{id}/avatar", "notes.avatar", session: { $0.people.avatar })
                .query("refresh", "replace"),
        ] + trashRoutes + [
            Route(.get, note, "notes.details", session: { $0.editing.details }).query("tz"),
            Route(.patch, note, "notes.details", maximumBodyBytes: bytes, session: { $0.editing.change })
                .answering().query("tz")
                .body("body", .object("location", "lat", "lon", "name")),
            Route(.delete, note, "notes.list", session: { $0.editing.delete }).answering()
                .query("permanently"),
        ]
    }

    private static var trashRoutes: [AppRoute<Self>] {
        NoteTrash.routes { method, path, handler in
            Route(method, path, Trash.notes.screen, session: Self.ofTrash(handler))
        } + [
            Route(.post, "/v1/notes/trash/{id}/restore", "notes.details", session: { $0.trash.restore }).answering()
                .query("tz")
        ]
    }

    /// Passes the account of the session to a handler of the trash.
    private static func ofTrash(
        _ handler: @escaping NoteTrash.TrashHandler
    ) -> @Sendable (NotesApp) -> Screens.Route.SessionHandler {
        { app in { try await handler(app.trash)($0, $1.noteAccount()) } }
    }
}

extension ProblemCode {
    static let nameTaken = ProblemCode("name-taken", .conflict, .nameIsTaken)
}

extension Session {
    /// Returns the account of the session.
    ///
    /// - Throws: ``Problem``, 401 if the session names no account.
    func noteAccount() throws -> Int64 {
        guard let account = Int64(account) else {
            throw Problem(.sessionExpired, "This session is of no account.")
        }
        return account
    }
}

extension EventStream {
    /// The screens that show the notes of an account.
    static let noteScreens = ["notes.list", "notes.map"]

    /// Publishes to an account that its notes have changed, on the screens that show it.
    func publishNotes(_ revision: Int, to account: Int64, _ screens: [String] = noteScreens) {
        publish(screens, of: NotesApp.name, revision, to: .account(app: NotesApp.name, account: "\(account)"))
    }
}
