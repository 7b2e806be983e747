import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens

/// One note: shows, creates, changes and deletes it.
struct NoteEditing: Sendable {
    let app: Notes

    /// `GET /v1/notes/{id}`. A note of another account is 404.
    @Sendable func details(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let changeToken = app.store.changeToken(account: account)
        let (id, _) = try request.noteID()
        let banner = try await app.store.catchUp()
        guard let note = try app.store.note(id, account: account) else { throw Problem.noNote }
        let time = NoteTime(in: zone, now: app.clock.now())
        var response = try ScreenResponse.note(note, time, self: request.selfLink, stale: banner)
        response.changeToken = banner == nil ? changeToken.and(ChangeToken(until: time.deadline)) : nil
        return response
    }

    /// `POST /v1/notes`.
    @Sendable func create(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let changes = try NoteChanges(try await request.jsonObject(), isNew: true)
        let (now, zoneName) = (app.clock.now(), try request.query.string("tz"))
        let location = try await located(changes.location) ?? .unknown
        let (note, response) = try await request.answering { (note: Note) in
            let path: Link = "/v1/notes/\(Note.identity(note.id))"
            var response = try ScreenResponse.note(
                note,
                NoteTime(in: zone, now: now),
                self: zoneName.map { path.query("tz", $0) } ?? path,
                status: .created
            )
            response.headerFields[.location] = path.requestTarget
            return response
        } to: {
            try await app.store.add(
                changes.body ?? "",
                at: location,
                preconditions: request.writePreconditions(),
                quota: app.quota,
                account: account,
                now: now
            )
        }
        app.events.publishNotes(note.revision, to: account)
        return response
    }

    /// Gives a place without a name the address of its position.
    private func located(_ location: Note.Location?) async throws -> Note.Location? {
        guard let given = location, given.name.isEmpty else { return location }
        let address = try await app.addresses.address(of: given.coordinate)
        return Note.Location(coordinate: given.coordinate, name: address.text)
    }

    /// `PATCH /v1/notes/{id}`: fields that are left out stay. With `If-Match` or `If-None-Match`, only at a version
    /// that they allow.
    @Sendable func change(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let (id, _) = try request.noteID()
        let changes = try NoteChanges(try await request.jsonObject(), isNew: false)
        let (now, link) = (app.clock.now(), request.selfLink)
        let location = try await located(changes.location)
        let (note, response) = try await request.answering { (note: Note?) in
            guard let note else { throw Problem.noNote }
            return try .note(note, NoteTime(in: zone, now: now), self: link)
        } to: {
            try await app.store.change(
                id,
                body: changes.body,
                location: location,
                preconditions: request.writePreconditions(),
                quota: app.quota,
                account: account,
                now: now
            )
        }
        if let note { app.events.publishNotes(note.revision, to: account) }
        return response
    }

    /// `DELETE /v1/notes/{id}`: moves the note with its place to the trash, or deletes it permanently.
    @Sendable func delete(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let (id, identity) = try request.noteID()
        let isForGood = try request.query.flag("permanently") || app.trashLifetime == .zero
        let preconditions = request.writePreconditions()
        let (revision, response) = try await request.answering { (revision: Int?) in
            guard let revision else { throw Problem.noNote }
            return try .local(
                DeletionScreen(
                    id: identity,
                    revision: revision,
                    route: .noteList,
                    actions: isForGood ? [] : [Trash.notes.undo(identity)]
                ),
                "notes.list",
                request,
                revision: revision,
                selfLink: "/v1/notes"
            )
        } to: {
            try await app.store.delete(
                id,
                toTrashAt: isForGood ? nil : app.clock.now(),
                preconditions: preconditions,
                account: account
            )
        }
        if let revision {
            app.events.publishNotes(revision, to: account, isForGood ? EventStream.noteScreens : NoteTrash.screens)
        }
        return response
    }
}

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
    /// `If-Match` may name it instead of the whole entity tag.
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

extension Note.Location {
    var nameText: Text { name == Self.unknown.name ? .unknownLocation : Text(verbatim: name) }
}

extension StorageQuota {
    /// Returns why no note can be created; nil if an empty one has room.
    func refusalOfNote(beside usage: StorageUsage) -> Text? { refusal(beside: usage, of: NoteStore.bytesBeside) }
}

extension ScreenLink {
    static let noteList = ScreenLink("notes.list", "/v1/notes")
}

extension Action {
    static func createNote(disabled reason: Text?) -> Action {
        Action(
            id: "create",
            title: .createNote,
            method: "POST",
            href: "/v1/notes",
            fields: [Field("body", .text, .text), Field("location", .location, .place, required: false)],
            disabled: reason
        )
    }

    static func saveNote(_ note: Note, _ href: Link) -> Action {
        let place = Location(
            latitude: note.location.coordinate.latitude,
            longitude: note.location.coordinate.longitude,
            name: note.location.name
        )
        let fields = [
            Field("body", .text, .text, value: note.body, required: false),
            Field("location", .location, .place, location: place, required: false),
        ]
        return Action(id: "save", title: .save, method: "PATCH", href: href, fields: fields)
    }

    /// Without a confirmation.
    static func deleteNote(_ id: Int64) -> Action {
        Action(id: "delete", title: .delete, method: "DELETE", href: "/v1/notes/\(Note.identity(id))")
    }
}

extension ScreenRequest {
    /// Returns the note that the path names.
    ///
    /// - Throws: ``Problem``, 404 if the name is not one of a note.
    func noteID() throws -> (row: Int64, identity: String) {
        let identity = try parameter("id")
        guard let row = Note.row(of: identity) else { throw Problem.noNote }
        return (row, identity)
    }
}

extension Problem {
    /// The account has no note of that name.
    static let noNote = Problem.notFound(.noNote)
    static let accountDeleted = Problem(.sessionExpired, .accountDeleted)
}

extension ScreenResponse {
    /// Returns a note as its own screen, with its version in the entity tag. The response to a write carries the tag
    /// that a GET of the same address would have (RFC 9110 §8.8).
    static func note(
        _ note: Note,
        _ time: NoteTime,
        self link: Link,
        status: HTTPResponse.Status = .ok,
        stale banner: Banner? = nil
    ) throws -> ScreenResponse {
        let meta = Meta(
            screen: "notes.details",
            provenance: Provenance(source: .local, stale: banner != nil),
            revision: note.revision,
            banner: banner
        )
        var response = try ScreenResponse.local(NoteDetailsScreen(note, time), meta, Links(self: link), status: status)
        response.version = String(note.revision)
        if case .bytes(let bytes, _) = response.body {
            response.headerFields[.eTag] = EntityTag.strong(for: bytes, version: String(note.revision))
        }
        return response
    }
}
