import Foundation
import Freshness
import Screens

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
        /// What `If-Match` of its actions may name.
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
    /// The trash of the notes.
    static let notes = Trash("/v1/notes/trash")
}
