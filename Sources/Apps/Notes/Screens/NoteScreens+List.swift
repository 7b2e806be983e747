import Foundation
import Screens

/// `GET /v1/notes`.
struct NoteListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let firstLine: String
        let modifiedAt: Date
        let modifiedText: Text
        let location: NoteLocationScreen
        let href: Link
        let actions: [Action]

        init(_ note: NoteOutline, _ time: NoteTime) {
            id = Note.identity(note.id)
            firstLine = note.firstLine
            modifiedAt = note.modified
            modifiedText = time.text(note.modified)
            location = NoteLocationScreen(note.location)
            href = "/v1/notes/\(Note.identity(note.id))"
            actions = [.deleteNote(note.id)]
        }
    }

    let items: [Row]
    let actions: [Action] = [.createNote, Trash.notes.show]
    let empty: EmptyState?

    private enum CodingKeys: CodingKey { case items, actions, empty }
}

extension EmptyState {
    /// The account has no note.
    static let noNotes = EmptyState(
        title: .noNotes,
        text: .noNotesHint,
        action: .createNote
    )
    /// A search found none.
    static let noMatches = EmptyState(
        title: .noMatchingNotes,
        text: .noMatchingNotesHint,
        action: .show("show_all", .showAllNotes, "/v1/notes")
    )
    /// The query for places is empty.
    static let noQuestion = EmptyState(title: .findPlace, text: .findPlaceHint, button: .cancel)
    /// No place has such a name.
    static let noPlaces = EmptyState(
        title: .noMatchingPlaces,
        text: .noMatchingPlacesHint,
        button: .clear
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
        json.member("modified_at", modifiedAt)
        json.member("modified_text", modifiedText)
        json.endObject()
    }
}
