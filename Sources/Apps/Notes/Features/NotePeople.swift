import Database
import Foundation
import Freshness
import HTTPCaching
import HTTPTypes
import ResponseStore
import Screens
import Upstream

/// The directory of people.
struct NotePeople: Sendable {
    let store: NoteStore
    let client: PeopleClient
    let events: EventStream
    let clock: WallClock

    /// `GET /v1/notes/people`: all people, or with `q` those with these words in their names, ordered by first name.
    @Sendable func list(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let search = try request.query.string("q").flatMap(NameSearch.init)
        let list = PeoplePage.list(search)
        let page = try request.query.page(of: list, maximumLimit: 500)
        let changeToken = ChangeToken(of: store.peopleChanges)
        let (result, found) = try await people(request) { try store.people(page, search: search) }
        let shown = Page(page, count: found.people.count, total: found.total, hasMore: found.hasMore)
        let meta = Meta(
            screen: "notes.people",
            state: found.total == 0 ? .empty : .content,
            provenance: result.provenance,
            revision: found.snapshot,
            page: shown
        )
        return try .screen(
            Envelope(
                data: PeopleListScreen(found.people, isEmpty: found.total == 0),
                meta: meta,
                links: request.links(for: shown, next: found.key.map(list.cursor(after:)))
            ),
            provenance: result.provenance,
            now: clock.now(),
            changeToken: result.changeToken?.and(changeToken)
        )
    }

    /// `GET /v1/notes/people/{id}`.
    @Sendable func person(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let changeToken = ChangeToken(of: store.peopleChanges)
        let (result, shown) = try await people(request) {
            (person: try person(in: request), number: try store.snapshot()?.number)
        }
        let meta = Meta(screen: "notes.person", provenance: result.provenance, revision: shown.number)
        return try .screen(
            Envelope(data: PersonScreen(shown.person), meta: meta, links: Links(self: request.selfLink)),
            provenance: result.provenance,
            now: clock.now(),
            changeToken: result.changeToken?.and(changeToken)
        )
    }

    /// `GET /v1/notes/people/{id}/avatar`: fetched by the first request, then always from the store. Only URLs that the
    /// service has named are fetched.
    @Sendable func avatar(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let changeToken = ChangeToken(of: store.peopleChanges)
        do {
            return try await picture(request, changeToken) {
                guard try storedPeople(request) != nil else { throw Unfetched() }
                return try person(in: request).avatarURL
            }
        } catch is Unfetched {
            // What fails here is the list of people: a problem, not a placeholder.
            _ = try await fetchedPeople(request)
            return try await picture(request, changeToken) { try person(in: request).avatarURL }
        }
    }

    /// Returns the picture at a URL that is read from the store, or a placeholder if there is none.
    private func picture(_ request: ScreenRequest, _ changeToken: ChangeToken, at url: () throws -> String?)
        async throws -> ScreenResponse
    {
        // No revalidation, also if the request asks for it: these pictures never change.
        let cachePolicy: CachePolicy = try request.cachePolicy() == .onlyIfCached ? .onlyIfCached : .useCache
        do {
            guard let (result, body) = try await client.readAvatar(cachePolicy, at: url) else { return .placeholder() }
            guard let body, let type = PictureType(of: body) else {
                return .placeholder(for: result.provenance)
            }
            return .picture(
                body,
                type: type,
                provenance: result.provenance,
                now: clock.now(),
                changeToken: result.changeToken?.and(changeToken)
            )
        } catch let failure as UpstreamFailure where failure.error != .notStored {
            return .placeholder(after: failure.error)
        }
    }

    /// People have to be fetched first.
    private struct Unfetched: Error {}

    /// Returns the state of the stored people with what is shown of them, in one transaction; fetches people if there
    /// are none.
    private func people<Shown>(_ request: ScreenRequest, _ shown: () throws -> Shown) async throws -> (
        ReadResult, Shown
    ) {
        let stored: (ReadResult, Shown)? = try store.database.read { _ in
            try storedPeople(request).map { ($0, try shown()) }
        }
        if let stored { return stored }
        let result = try await fetchedPeople(request)
        return (result, try shown())
    }

    /// Returns the state of the stored people; nil if ``fetchedPeople(_:)`` is to be called.
    private func storedPeople(_ request: ScreenRequest) throws -> ReadResult? {
        guard try !isReplacing(request) else { return nil }
        return try store.snapshot().map { client.storedResult(fetchedAt: $0.fetchedAt) }
    }

    private func isReplacing(_ request: ScreenRequest) throws -> Bool {
        let cachePolicy = try request.cachePolicy()
        return try request.query.flag("replace") && cachePolicy == .revalidate
    }

    /// Returns the state of the stored people, or fetches people if there are none. `refresh=1` fetches others only
    /// together with `replace=1`, because every row would become another person.
    private func fetchedPeople(_ request: ScreenRequest) async throws -> ReadResult {
        let cachePolicy = try request.cachePolicy()
        let isReplacing = try isReplacing(request)
        let snapshot = try store.snapshot()
        if let snapshot, !isReplacing { return client.storedResult(fetchedAt: snapshot.fetchedAt) }
        let (events, stamp, now) = (self.events, store.peopleChanges, clock.now())
        var (result, persistRows) = try await client.readPeople(cachePolicy, storedAt: snapshot?.fetchedAt) { people in
            NoteStore.persistRows(of: people, fetchedAt: now) { number in
                stamp.bump()
                let audience = ServerEvent.Audience.app(NotesApp.name)
                events.publish(
                    .screenChanged(app: NotesApp.name, screen: "notes.people", revision: number, audience: audience)
                )
            }
        }
        // A response that was stored without its rows, because the mount of the upstream has fetched it.
        if let persistRows, try store.snapshot() == nil { try await store.write(persistRows) }
        // The same time as in each later response.
        if let stored = try store.snapshot() {
            (result.provenance.validatedAt, result.provenance.contentFetchedAt) = (stored.fetchedAt, nil)
        }
        return result
    }

    private func person(in request: ScreenRequest) throws -> Person {
        let id = try request.parameter("id")
        guard let number = Int64(id), String(number) == id, let person = try store.person(number) else {
            throw Problem.notFound(.noPerson(id))
        }
        return person
    }
}
