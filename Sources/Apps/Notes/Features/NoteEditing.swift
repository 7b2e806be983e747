import Foundation
import Freshness
import HTTPSemantics
import HTTPTypes
import Screens

/// One note: shows, creates, changes and deletes it.
struct NoteEditing: Sendable {
    let store: NoteStore
    let addresses: NoteAddresses
    let events: EventStream
    let clock: WallClock

    /// `GET /v1/notes/{id}`. A note of another account is 404.
    @Sendable func details(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let changeToken = store.changeToken(account: account)
        let (id, identity) = try noteID(in: request)
        guard let note = try store.note(id, account: account) else { throw Self.missing(identity) }
        let time = NoteTime(in: zone, now: clock.now())
        var response = try response(showing: note, time, self: request.selfLink)
        response.changeToken = changeToken.and(ChangeToken(until: time.deadline))
        return response
    }

    /// `POST /v1/notes`.
    @Sendable func create(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let changes = try NoteChanges(try await request.jsonObject(), isNew: true)
        let now = clock.now()
        let note = try await add(changes, request, account: account, now: now)
        publish(note.revision, to: account)
        let path: Link = "/v1/notes/\(Note.identity(note.id))"
        let zoneName = try request.query.string("tz")
        var response = try response(
            showing: note,
            NoteTime(in: zone, now: now),
            self: zoneName.map { path.query("tz", $0) } ?? path,
            status: .created
        )
        response.headerFields[.location] = path.requestTarget
        return response
    }

    /// Adds a note, unless its account was deleted meanwhile.
    private func add(_ changes: NoteChanges, _ request: ScreenRequest, account: Int64, now: Date) async throws -> Note {
        do {
            return try await store.add(
                changes.body ?? "",
                at: try await located(changes.location) ?? .unknown,
                preconditions: request.writePreconditions(),
                account: account,
                now: now
            )
        } catch is NoteStore.AccountChanged {
            throw Problem(.sessionExpired, .accountDeleted)
        }
    }

    /// Gives a place without a name the address of its position.
    private func located(_ location: Note.Location?) async throws -> Note.Location? {
        guard let given = location, given.name.isEmpty else { return location }
        let address = try await addresses.address(of: given.coordinate)
        return Note.Location(coordinate: given.coordinate, name: address.text)
    }

    /// `PATCH /v1/notes/{id}`: fields that are left out stay. With `If-Match` or `If-None-Match`, only at a version
    /// that they allow.
    @Sendable func change(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let (id, identity) = try noteID(in: request)
        let changes = try NoteChanges(try await request.jsonObject(), isNew: false)
        let now = clock.now()
        let changed = try await store.change(
            id,
            body: changes.body,
            location: try await located(changes.location),
            preconditions: request.writePreconditions(),
            account: account,
            now: now
        )
        guard let note = changed else { throw Self.missing(identity) }
        publish(note.revision, to: account)
        return try response(showing: note, NoteTime(in: zone, now: now), self: request.selfLink)
    }

    /// `DELETE /v1/notes/{id}`: the note and its place.
    @Sendable func delete(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let (id, identity) = try noteID(in: request)
        let preconditions = request.writePreconditions()
        guard try await store.delete(id, preconditions: preconditions, account: account) else {
            throw Self.missing(identity)
        }
        let revision = try store.revision(account: account)
        publish(revision, to: account)
        return try .local(
            NoteDeletionScreen(id: identity, revision: revision),
            "notes.list",
            request,
            revision: revision,
            selfLink: "/v1/notes"
        )
    }

    /// The note as its own screen, with its version in the entity tag. The response to a write carries the tag that a
    /// GET of the same address would have (RFC 9110 §8.8).
    private func response(showing note: Note, _ time: NoteTime, self link: Link, status: HTTPResponse.Status = .ok)
        throws -> ScreenResponse
    {
        let meta = Meta(screen: "notes.details", provenance: .local, revision: note.revision)
        var response = try ScreenResponse.local(
            NoteDetailsScreen(note, time),
            meta,
            Links(self: link),
            status: status
        )
        response.version = String(note.revision)
        if case .bytes(let bytes, _) = response.body {
            response.headerFields[.eTag] = EntityTag.strong(for: bytes, version: String(note.revision))
        }
        return response
    }

    /// Publishes to the account that its notes have changed, on both screens that show them.
    private func publish(_ revision: Int, to account: Int64) {
        for screen in ["notes.list", "notes.map"] {
            events.publish(
                .screenChanged(
                    app: NotesApp.name,
                    screen: screen,
                    revision: revision,
                    audience: .account(app: NotesApp.name, account: "\(account)")
                )
            )
        }
    }

    private func noteID(in request: ScreenRequest) throws -> (row: Int64, identity: String) {
        let identity = try request.parameter("id")
        guard let row = Note.row(of: identity) else { throw Self.missing(identity) }
        return (row, identity)
    }

    private static func missing(_ identity: String) -> Problem { .notFound(.noNote(identity)) }
}
