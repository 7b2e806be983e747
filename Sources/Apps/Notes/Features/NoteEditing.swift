import Foundation
import Freshness
import HTTPTypes
import Screens

/// One note: shows, creates, changes and deletes it.
struct NoteEditing: Sendable {
    let book: any NoteBook
    let addresses: NoteAddresses
    let events: EventStream
    let clock: WallClock
    /// How long deleted notes stay in the trash; zero if there is none.
    let trashLifetime: Duration
    /// What each account may store.
    let quota: StorageQuota

    /// `GET /v1/notes/{id}`. A note of another account is 404.
    @Sendable func details(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let changeToken = book.changeToken(account: account)
        let (id, identity) = try request.noteID()
        guard let note = try await book.note(id, account: account) else { throw Problem.noNote(identity) }
        let time = NoteTime(in: zone, now: clock.now())
        var response = try ScreenResponse.note(note, time, self: request.selfLink)
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
        events.publishNotes(note.revision, to: account)
        let path: Link = "/v1/notes/\(Note.identity(note.id))"
        let zoneName = try request.query.string("tz")
        var response = try ScreenResponse.note(
            note,
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
            return try await book.add(
                changes.body ?? "",
                at: try await located(changes.location) ?? .unknown,
                preconditions: request.writePreconditions(),
                quota: quota,
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
        let (id, identity) = try request.noteID()
        let changes = try NoteChanges(try await request.jsonObject(), isNew: false)
        let now = clock.now()
        let changed = try await book.change(
            id,
            body: changes.body,
            location: try await located(changes.location),
            preconditions: request.writePreconditions(),
            quota: quota,
            account: account,
            now: now
        )
        guard let note = changed else { throw Problem.noNote(identity) }
        events.publishNotes(note.revision, to: account)
        return try .note(note, NoteTime(in: zone, now: now), self: request.selfLink)
    }

    /// `DELETE /v1/notes/{id}`: moves the note with its place to the trash, or deletes it permanently.
    @Sendable func delete(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let (id, identity) = try request.noteID()
        let isForGood = try request.query.flag("permanently") || trashLifetime == .zero
        let preconditions = request.writePreconditions()
        let deleted = try await book.delete(
            id,
            toTrashAt: isForGood ? nil : clock.now(),
            preconditions: preconditions,
            account: account
        )
        guard deleted else { throw Problem.noNote(identity) }
        let revision = try await book.revision(account: account)
        events.publishNotes(revision, to: account, isForGood ? EventStream.noteScreens : NoteTrash.screens)
        return try .local(
            NoteDeletionScreen(
                id: identity,
                revision: revision,
                actions: isForGood ? [] : [Trash.notes.undo(identity)]
            ),
            "notes.list",
            request,
            revision: revision,
            selfLink: "/v1/notes"
        )
    }
}
