import Foundation
import Screens

/// The place of a note.
struct NoteLocationScreen: Encodable, Sendable {
    let lat: Double
    let lon: Double
    let name: Text

    init(_ location: Note.Location) {
        lat = location.coordinate.latitude
        lon = location.coordinate.longitude
        name = location.nameText
    }
}

/// `GET`, `POST` and `PATCH` of one note.
struct NoteDetailsScreen: Encodable, Sendable {
    let id: String
    let body: String
    let modifiedAt: Date
    let modifiedText: Text
    let lastEditedText: Text
    let createdAt: Date
    let createdText: Text
    let location: NoteLocationScreen
    /// What `If-Match` may name instead of the whole entity tag.
    let version: Int
    let href: Link
    let actions: [Action]

    init(_ note: Note, _ time: NoteTime) {
        id = Note.identity(note.id)
        body = note.body
        modifiedAt = note.modified
        modifiedText = time.text(note.modified)
        lastEditedText = .lastEdited(modifiedText)
        createdAt = note.created
        createdText = time.text(note.created)
        location = NoteLocationScreen(note.location)
        version = note.revision
        href = "/v1/notes/\(Note.identity(note.id))"
        actions = [.saveNote(note, href), .deleteNote(note.id)]
    }
}

/// `DELETE /v1/notes/{id}`.
struct NoteDeletionScreen: Encodable, Sendable {
    let id: String
    let revision: Int
    /// The next screen of the app.
    let route = ScreenLink.noteList
    /// How to take it back; empty if there is no way.
    let actions: [Action]

    private enum CodingKeys: CodingKey { case id, revision, route, actions }
}

extension Note.Location {
    /// The name for the user.
    var nameText: Text { name == Self.unknown.name ? .unknownLocation : Text(verbatim: name) }
}

extension ScreenLink {
    static let noteList = ScreenLink("notes.list", "/v1/notes")
}

extension Action {
    static let createNote = Action(
        id: "create",
        title: .createNote,
        method: "POST",
        href: "/v1/notes",
        fields: [Field("body", .text), Field("location", .location, required: false)]
    )

    static func saveNote(_ note: Note, _ href: Link) -> Action {
        let place = Place(
            latitude: note.location.coordinate.latitude,
            longitude: note.location.coordinate.longitude,
            name: note.location.name
        )
        let fields = [
            Field("body", .text, value: note.body, required: false),
            Field("location", .location, location: place, required: false),
        ]
        return Action(id: "save", title: .save, method: "PATCH", href: href, fields: fields)
    }

    /// Without a confirmation.
    static func deleteNote(_ id: Int64) -> Action {
        Action(id: "delete", title: .delete, method: "DELETE", href: "/v1/notes/\(Note.identity(id))")
    }
}

extension NoteLocationScreen: JSONWritable {
    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        try json.member("lat", lat)
        try json.member("lon", lon)
        json.member("name", name)
        json.endObject()
    }
}
