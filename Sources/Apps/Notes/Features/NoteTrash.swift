import Foundation
import Freshness
import Screens

/// The trash: notes that were deleted and can be restored.
struct NoteTrash: Sendable {
    let book: any NoteBook
    let events: EventStream
    let clock: WallClock
    /// How long a note stays there.
    let lifetime: Duration

    /// `GET /v1/notes/trash`: the last deleted first.
    @Sendable func list(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let asked = try request.query.page(of: NoteTrashPage.list)
        let changeToken = book.changeToken(account: account)
        let page = try await book.trash(account: account, page: asked)
        let time = NoteTime(in: zone, now: clock.now())
        let shown = Page(asked, count: page.notes.count, total: page.total, hasMore: page.hasMore)
        let meta = Meta(
            screen: "notes.trash",
            state: page.total == 0 ? .empty : .content,
            provenance: .local,
            revision: page.revision,
            page: shown
        )
        let next = page.notes.last.map { NoteTrashPage.list.cursor(after: [.integer(Int64($0.deletion))]) }
        var response = try ScreenResponse.local(
            NoteTrashScreen(page, time, lifetime: lifetime),
            meta,
            request.links(for: shown, next: next),
            changeToken: changeToken.and(ChangeToken(until: time.deadline))
        )
        response.version = String(page.revision)
        return response
    }

    /// `POST /v1/notes/trash/{id}/restore`: restores the note unchanged. Repeating it changes nothing.
    @Sendable func restore(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let (id, identity) = try request.noteID()
        let restored = try await book.restore(id, preconditions: request.writePreconditions(), account: account)
        guard let (note, revision) = restored else { throw Problem.noNote(identity) }
        events.publishNotes(revision, to: account, NoteTrash.screens)
        let zoneName = try request.query.string("tz")
        let path: Link = "/v1/notes/\(identity)"
        let link = zoneName.map { path.query("tz", $0) } ?? path
        return try .note(note, NoteTime(in: zone, now: clock.now()), self: link)
    }

    /// `DELETE /v1/notes/trash/{id}`: deletes it permanently.
    @Sendable func purge(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let (id, identity) = try request.noteID()
        let preconditions = request.writePreconditions()
        guard let revision = try await book.purge(id, preconditions: preconditions, account: account) else {
            throw Problem.noNote(identity)
        }
        return try response(to: request, removed: 1, revision: revision, account)
    }

    /// `DELETE /v1/notes/trash`: deletes its contents permanently.
    @Sendable func empty(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let (count, revision) = try await book.emptyTrash(
            preconditions: request.writePreconditions(),
            account: account
        )
        return try response(to: request, removed: count, revision: revision, account)
    }

    private func response(to request: ScreenRequest, removed: Int, revision: Int, _ account: Int64) throws
        -> ScreenResponse
    {
        events.publishNotes(revision, to: account, ["notes.trash"])
        return try .local(
            NotePurgeScreen(removed: removed, revision: revision),
            "notes.trash",
            request,
            revision: revision,
            selfLink: "/v1/notes/trash"
        )
    }

    /// Permanently deletes expired notes.
    ///
    /// - Returns: their number.
    func purgeDue(at now: Date) async throws -> Int {
        let (count, revisions) = try await book.purgeTrash(deletedBefore: now.addingTimeInterval(-lifetime.seconds))
        for (account, revision) in revisions { events.publishNotes(revision, to: account, ["notes.trash"]) }
        return count
    }

    /// The screens that show that a note was moved to the trash or out of it.
    static let screens = EventStream.noteScreens + ["notes.trash"]
}

/// `GET /v1/notes/trash`.
struct NoteTrashScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let firstLine: String
        let location: NoteLocationScreen
        let deletedAt: Date
        let deletedText: Text
        /// When it is deleted permanently.
        let expiresAt: Date
        let expiresText: Text
        /// `If-Match` of its actions may name it.
        let version: Int
        let actions: [Action]

        init(_ trashed: TrashedNote, _ time: NoteTime, lifetime: Duration) {
            id = Note.identity(trashed.note.id)
            firstLine = trashed.note.firstLine
            location = NoteLocationScreen(trashed.note.location)
            deletedAt = trashed.deleted
            deletedText = .deleted(time.text(trashed.deleted))
            expiresAt = trashed.deleted.addingTimeInterval(lifetime.seconds)
            expiresText = .keptUntil(time.text(expiresAt))
            version = trashed.note.revision
            actions = [Trash.notes.restore(id), Trash.notes.purge(id)]
        }
    }

    let items: [Row]
    let count: Int
    let countText: Text
    let actions: [Action]
    let empty: EmptyState?

    init(_ page: NoteTrashPage, _ time: NoteTime, lifetime: Duration) {
        items = page.notes.map { Row($0, time, lifetime: lifetime) }
        count = page.total
        countText = .inTrash(page.total)
        actions = [Trash.notes.empty(isEnabled: page.total > 0)]
        empty = page.total == 0 ? .noteTrash : nil
    }
}

/// `DELETE /v1/notes/trash`, and of one note in it.
struct NotePurgeScreen: Encodable, Sendable {
    /// Number of permanently deleted notes.
    let removed: Int
    let revision: Int
    let route = ScreenLink("notes.trash", "/v1/notes/trash")

    private enum CodingKeys: CodingKey { case removed, revision, route }
}

extension EmptyState {
    /// Nothing is in the trash.
    static let noteTrash = EmptyState(title: .trashIsEmpty, text: .noteTrashHint, button: .showAllNotes)
}

extension Trash {
    static let notes = Trash("/v1/notes/trash")
}
