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
            actions = [.restoreNote(trashed.note.id), .purgeNote(trashed.note.id)]
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
        actions = [.emptyNoteTrash(isEnabled: page.total > 0)]
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

extension Action {
    /// The way from the list to the trash.
    static let showNoteTrash = Action(id: "trash", title: .trash, method: "GET", href: "/v1/notes/trash")

    /// Takes back the deletion of a note.
    static func undoNoteDeletion(_ id: Int64) -> Action {
        Action(id: "undo", title: .undo, method: "POST", href: restoration(id))
    }

    static func restoreNote(_ id: Int64) -> Action {
        Action(id: "restore", title: .restore, method: "POST", href: restoration(id))
    }

    static func purgeNote(_ id: Int64) -> Action {
        Action(
            id: "purge",
            title: .deleteForGood,
            method: "DELETE",
            href: "/v1/notes/trash/\(Note.identity(id))",
            confirm: .init(message: .confirmPurge, buttons: [.deleteForGood, .cancel])
        )
    }

    static func emptyNoteTrash(isEnabled: Bool) -> Action {
        Action(
            id: "empty",
            title: .emptyTrash,
            method: "DELETE",
            href: "/v1/notes/trash",
            enabled: isEnabled,
            confirm: .init(message: .confirmEmptyingTrash, buttons: [.emptyTrash, .cancel])
        )
    }

    private static func restoration(_ id: Int64) -> Link { "/v1/notes/trash/\(Note.identity(id))/restore" }
}
