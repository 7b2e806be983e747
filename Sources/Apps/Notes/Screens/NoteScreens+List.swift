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

extension NoteListScreen: JSONWritable {
    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        try json.member("actions", actions)
        if let empty { try json.member("empty", empty) }
        try json.member("items", items)
        json.endObject()
    }
}

extension NoteListScreen.Row: JSONWritable {
    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        try json.member("actions", actions)
        json.member("first_line", firstLine)
        json.member("href", href)
        json.member("id", id)
        try json.member("location", location)
        json.member("modified", modified)
        json.member("modified_text", modifiedText)
        json.endObject()
    }
}
