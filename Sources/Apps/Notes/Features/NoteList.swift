import Concurrency
import Foundation
import HTTP
import Screens
import Storage

/// The notes of an account as a list.
struct NoteList: Sendable {
    let app: Notes

    /// `GET /v1/notes`: all notes, or with `q` those that contain its words.
    @Sendable func list(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let question = try request.query.string("q")?.trimmingCharacters(in: .whitespacesAndNewlines)
        let search = question.flatMap { $0.isEmpty ? nil : NoteQuery($0) }
        let list = NotePage.list(search)
        let page = try request.query.page(of: list)
        let changeToken = app.store.changeToken(account: account)
        let banner = try await app.store.catchUp()
        let listing = try app.store.list(account: account, page: page, search: search, text: question)
        let time = NoteTime(in: zone, now: app.clock.now())
        let isEmpty = listing.page.total == 0
        let refusal = app.quota.refusalOfNote(beside: listing.usage)
        let create = Action.createNote(disabled: refusal)
        let screen = NoteListScreen(
            items: listing.page.rows.map { NoteListScreen.Row($0, time) },
            actions: [create, Trash.notes.show, .importNotes(disabled: refusal)] + Action.exportNotes,
            empty: isEmpty ? (listing.all == 0 ? .noNotes(create) : .noMatches) : nil
        )
        return try ScreenResponse.local(
            screen,
            "notes.list",
            request,
            state: isEmpty ? .empty : .content,
            revision: listing.revision,
            stale: banner,
            page: list.part(listing.page, of: page),
            variant: listing.variant,
            changeToken: changeToken.and(ChangeToken(until: time.deadline))
        ).at(version: listing.revision)
    }
}

/// `GET /v1/notes`.
struct NoteListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let firstLine: String
        /// The beginning of the lines after it.
        let snippet: String
        let modifiedAt: Date
        let modifiedText: Text
        let location: NoteLocationScreen
        /// The part of the text in which the words of the search were found; absent without one.
        let passage: [SearchPassage.Part]?
        let href: Link
        let actions: [Action]

        init(_ note: NoteOutline, _ time: NoteTime) {
            id = Note.identity(note.id)
            firstLine = note.firstLine
            snippet = note.snippet
            modifiedAt = note.modified
            modifiedText = time.text(note.modified)
            location = NoteLocationScreen(note.location)
            passage = note.passage?.parts
            href = "/v1/notes/\(Note.identity(note.id))"
            actions = [.deleteNote(note.id)]
        }
    }

    let items: [Row]
    let actions: [Action]
    let empty: EmptyState?
}

extension EmptyState {
    /// The account has no note.
    static func noNotes(_ create: Action) -> EmptyState {
        EmptyState(title: .noNotes, text: .noNotesHint, action: create)
    }
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
