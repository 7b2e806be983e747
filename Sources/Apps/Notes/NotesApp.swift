package import Cluster
import Foundation
import HTTPTypes
package import Screens
package import ServiceLifecycle
package import Storage

/// The Notes app: notes with their places, on a list and on a map, and a directory of people.
package struct NotesApp: App {
    package static let name = NoteStore.app
    package static let title = Text("Notes on a map", ru: "Заметки на карте")
    package static let migrations = NoteStore.migrations
    /// The app's tables without the indexes that each server derives from them.
    package static let replicated: JournalTables? = NoteStore.replicated

    let notes: Notes
    private let transfer: NoteTransfer
    private let expiry: ExpiryService

    private var sessions: NoteSessions { NoteSessions(app: notes) }
    private var accounts: NoteAccounts { NoteAccounts(app: notes) }
    private var listing: NoteList { NoteList(app: notes) }
    private var editing: NoteEditing { NoteEditing(app: notes) }
    private var trash: NoteTrash { NoteTrash(app: notes) }
    private var mapping: NoteMapping { NoteMapping(app: notes) }
    private var places: NotePlaces { NotePlaces(app: notes) }
    private var cities: NoteCities { NoteCities(app: notes) }
    private var people: NotePeople { NotePeople(app: notes) }

    /// - Throws: the errors of the bundled gazetteer if it cannot be read.
    package init(_ context: AppContext) throws {
        notes = try Notes(context)
        notes.sessions.letExpire(sessionsOf: Self.name)
        transfer = NoteTransfer(app: notes)
        let trash = NoteTrash(app: notes)
        expiry = ExpiryService(
            of: "notes in the trash",
            by: context.retention,
            logger: context.logger,
            purge: trash.purgeDue(at:)
        )
    }

    /// The notes of the account, and how much they are.
    package var userData: UserData? {
        let (store, quota) = (notes.store, notes.quota)
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
                .query("bbox", "cell", "zoom", "placed", "lat", "lon", "tz"),
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
            Route(
                method,
                path,
                Trash.notes.screen,
                session: { app in { try await handler(app.trash)($0, $1.noteAccount()) } }
            )
        } + [
            Route(.post, "/v1/notes/trash/{id}/restore", "notes.details", session: { $0.trash.restore }).answering()
                .query("tz")
        ]
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
    static let noteScreens = ["notes.list", "notes.map"]

    /// Publishes to an account that its notes have changed, on the screens that show it.
    func publishNotes(_ revision: Int, to account: Int64, _ screens: [String] = noteScreens) {
        publish(screens, of: NotesApp.name, revision, to: .account(app: NotesApp.name, account: "\(account)"))
    }
}
