import Foundation
import Screens

/// `GET /v1/notes`.
struct NoteListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let firstLine: String
        let modified: Date
        let modifiedText: String
        let location: NoteLocationScreen
        let href: String
        let actions: [Action]

        init(_ note: NoteOutline, _ time: NoteTime) {
            id = Note.identity(note.id)
            firstLine = note.firstLine
            modified = note.modified
            modifiedText = time.text(note.modified)
            location = NoteLocationScreen(note.location)
            href = "/v1/notes/\(Note.identity(note.id))"
            actions = [.deleteNote(note.id)]
        }
    }

    let items: [Row]
    let actions: [Action] = [.createNote]
    let empty: EmptyState?

    private enum CodingKeys: CodingKey { case items, actions, empty }
}

extension EmptyState {
    /// The account has no note.
    static let noNotes = EmptyState(
        title: "No Notes Yet",
        text: "This is where your notes will appear.",
        button: "Create Note"
    )
    /// A search found none.
    static let noMatches = EmptyState(
        title: "No Matching Notes",
        text: "No note holds these words.",
        button: "Show All Notes"
    )
    /// The query for places is empty.
    static let noQuestion = EmptyState(title: "Find a Place", text: "Type the beginning of its name.", button: "Cancel")
    /// No place has such a name.
    static let noPlaces = EmptyState(
        title: "No Matching Places",
        text: "No place is known whose name begins like this.",
        button: "Clear"
    )
}

/// The place of a note.
struct NoteLocationScreen: Encodable, Sendable {
    let lat: Double
    let lon: Double
    let name: String

    init(_ location: Note.Location) {
        lat = location.coordinate.latitude
        lon = location.coordinate.longitude
        name = location.name
    }
}

/// `GET`, `POST` and `PATCH` of one note.
struct NoteDetailsScreen: Encodable, Sendable {
    let id: String
    let body: String
    let modified: Date
    let modifiedText: String
    let lastEditedText: String
    let created: Date
    let location: NoteLocationScreen
    /// What `If-Match` may name instead of the whole entity tag.
    let version: Int
    let href: String
    let actions: [Action]

    init(_ note: Note, _ time: NoteTime) {
        id = Note.identity(note.id)
        body = note.body
        modified = note.modified
        modifiedText = time.text(note.modified)
        lastEditedText = "Last edited: \(time.text(note.modified))"
        created = note.created
        location = NoteLocationScreen(note.location)
        version = note.revision
        href = "/v1/notes/\(Note.identity(note.id))"
        actions = [Action(id: "save", title: "Save", method: "PATCH", href: href), .deleteNote(note.id)]
    }
}

/// `DELETE /v1/notes/{id}`.
struct NoteDeletionScreen: Encodable, Sendable {
    let id: String
    let revision: Int
    /// Where the app goes next.
    let route = "list"

    private enum CodingKeys: CodingKey { case id, revision, route }
}

extension Action {
    static let createNote = Action(id: "create", title: "Create Note", method: "POST", href: "/v1/notes")

    /// Without a confirmation.
    static func deleteNote(_ id: Int64) -> Action {
        Action(id: "delete", title: "Delete", method: "DELETE", href: "/v1/notes/\(Note.identity(id))")
    }
}
