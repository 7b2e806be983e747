import Concurrency
import Foundation
import Screens

/// The trash: notes that were deleted and can be restored.
struct NoteTrash: TrashFeature {
    struct Properties: Encodable, Identifiable, Sendable {
        let id: String
        let firstLine: String
        let location: NoteLocationScreen
    }

    static let trash = Trash.notes
    /// The screens that show that a note was moved to the trash or out of it.
    static let screens = EventStream.noteScreens + [Trash.notes.screen]

    let app: Notes

    var events: EventStream { app.events }
    var lifetime: Duration { app.trashLifetime }

    /// `POST /v1/notes/trash/{id}/restore`: restores the note unchanged. Repeating it changes nothing.
    @Sendable func restore(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let (id, identity) = try request.noteID()
        let zoneName = try request.query.string("tz")
        let path: Link = "/v1/notes/\(identity)"
        let (link, now) = (zoneName.map { path.query("tz", $0) } ?? path, app.clock.now())
        let (restored, response) = try await request.answering { (restored: (note: Note, revision: Int)?) in
            guard let restored else { throw Problem.noNote }
            return try .note(restored.note, NoteTime(in: zone, now: now), self: link)
        } to: {
            try await app.store.restore(id, preconditions: request.writePreconditions(), account: account)
        }
        if let restored { events.publishNotes(restored.revision, to: account, NoteTrash.screens) }
        return response
    }

    func catchUp() async throws -> Banner? { try await app.store.catchUp() }

    func audience(of account: Int64) -> ServerEvent.Audience { .account(app: NotesApp.name, account: "\(account)") }

    func changeToken(of account: Int64) -> ChangeToken { app.store.changeToken(account: account) }

    func page(_ request: PageRequest, of account: Int64) throws -> (
        page: ListPage<TrashEntry<NoteOutline>>, revision: Int
    ) {
        try app.store.trash(account: account, page: request)
    }

    func properties(of note: NoteOutline) -> Properties {
        let location = NoteLocationScreen(note.location)
        return Properties(id: Note.identity(note.id), firstLine: note.firstLine, location: location)
    }

    func texts(in zone: TimeZone) -> (text: (Date) -> Text, changeToken: ChangeToken) {
        let time = NoteTime(in: zone, now: app.clock.now())
        return (time.text, ChangeToken(until: time.deadline))
    }

    func purge(_ id: String, _ preconditions: WritePreconditions, of account: Int64) async throws -> Int? {
        guard let row = Note.row(of: id) else { return nil }
        return try await app.store.purge(row, preconditions: preconditions, account: account)
    }

    func purge(_ most: Int, upTo time: Date, _ preconditions: WritePreconditions, of account: Int64) async throws
        -> (count: Int, revision: Int)
    {
        try await app.store.purgeTrash(most, upTo: time, preconditions: preconditions, account: account)
    }

    func owner(ofItemsUpTo time: Date) async throws -> Int64? { try await app.store.account(ofTrashUpTo: time) }

    var notFound: Problem { .noNote }
}

extension Trash {
    static let notes = Trash(of: NotesApp.name, key: [.integer], hint: .noteTrashHint, button: .showAllNotes)
}
