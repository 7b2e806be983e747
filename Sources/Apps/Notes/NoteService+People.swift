import Foundation
import HTTPCaching
import HTTPTypes
import Screens
import Storage
import Upstream

extension NoteService {
    /// `GET /v1/notes/people`: by first name.
    @Sendable func people(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.requiredSession()
        let page = try request.query.page(maximumLimit: 500)
        let own = ChangeToken(of: store.peopleChanges)
        let reading = try await fetchedPeople(request)
        let (people, total, snapshot) = try store.people(page)
        let shown = Page(page, count: people.count, total: total)
        let meta = Meta(
            screen: "notes.people",
            state: total == 0 ? .empty : .content,
            provenance: reading.provenance,
            revision: snapshot,
            page: shown
        )
        return try .screen(
            Envelope(
                data: PeopleListScreen(items: people.map(PeopleListScreen.Row.init)),
                meta: meta,
                links: request.links(for: shown)
            ),
            provenance: reading.provenance,
            now: clock.now(),
            changeToken: reading.changeToken?.and(own)
        )
    }

    /// `GET /v1/notes/people/{id}`.
    @Sendable func person(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.requiredSession()
        let own = ChangeToken(of: store.peopleChanges)
        let reading = try await fetchedPeople(request)
        let person = try person(in: request)
        let meta = Meta(screen: "notes.person", provenance: reading.provenance, revision: try store.snapshot()?.number)
        return try .screen(
            Envelope(data: PersonScreen(person), meta: meta, links: Links(self: request.selfLink)),
            provenance: reading.provenance,
            now: clock.now(),
            changeToken: reading.changeToken?.and(own)
        )
    }

    /// `GET /v1/notes/people/{id}/avatar`: fetched when it is first asked for, then always from the store. Only URLs
    /// that the service named are ever fetched.
    @Sendable func avatar(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.requiredSession()
        let own = ChangeToken(of: store.peopleChanges)
        let isOnlyIfCached = try request.cachePolicy() == .onlyIfCached
        _ = try await fetchedPeople(request)
        guard let url = try person(in: request).avatarURL else {
            return .placeholder(CacheStatus(.hit, detail: "placeholder"))
        }
        do {
            // `refresh` is for other pictures: these never change.
            let reading = try await peopleAPI.upstream.read(
                peopleAPI.avatar(at: url),
                isOnlyIfCached ? .onlyIfCached : .useCache
            )
            guard let stored = reading.response, let body = try await store.bytes(of: stored),
                let type = PictureType(of: body)
            else {
                return .placeholder(CacheStatus(.forward(.miss), detail: "placeholder"))
            }
            var response = ScreenResponse.picture(
                body,
                type: type,
                provenance: reading.provenance,
                now: clock.now(),
                changeToken: reading.changeToken?.and(own)
            )
            // The picture never changes, but the address is that of a row, which is somebody else after people were
            // replaced.
            response.headerFields[.cacheControl] = "private, no-cache"
            return response
        } catch UpstreamError.notStored {
            throw UpstreamFailure(.notStored, of: peopleAPI.upstream)
        } catch let error as UpstreamError {
            return .placeholder(
                CacheStatus(.forward(.uriMiss), forwardStatus: error.status?.code, detail: "placeholder")
            )
        }
    }

    /// The people that are there, or those of the one call that is made while there are none. `refresh=1` asks for
    /// others only together with `replace=1`: everybody would be somebody else.
    private func fetchedPeople(_ request: ScreenRequest) async throws -> ReadResult {
        let cachePolicy = try request.cachePolicy()
        let isReplacing = try request.query.flag("replace") && cachePolicy == .revalidate
        let snapshot = try store.snapshot()
        if let snapshot, !isReplacing { return peopleAPI.upstream.result(ofRowsFetchedAt: snapshot.fetchedAt) }
        let (events, stamp, now) = (self.events, store.peopleChanges, clock.now())
        var resource = peopleAPI.people { people in
            NoteStore.persistRows(of: people, fetchedAt: now) { number in
                stamp.bump()
                events.publish(.screenChanged(app: "notes", screen: "notes.people", revision: number))
            }
        }
        // The people that are there stand in for those that do not come.
        resource.bundledAt = snapshot?.fetchedAt
        do {
            let reading = try await peopleAPI.upstream.read(resource, cachePolicy)
            if try store.snapshot() == nil, let response = reading.response {
                try await takeOver(response, as: resource)
            }
            return reading
        } catch UpstreamError.rejected(let status, _) {
            let name = peopleAPI.upstream.configuration.name
            throw Problem(
                .upstreamForbidden,
                "The people API answered \(status.code): it does not accept Larder's key, which the setting people.key sets.",
                upstream: .init(name: name, status: status.code)
            )
        } catch let error as UpstreamError {
            throw UpstreamFailure(error, of: peopleAPI.upstream)
        }
    }

    /// Makes rows of a response that was stored without them: the mount of the upstream may have fetched it first.
    private func takeOver(_ response: CachedResponse, as resource: Resource) async throws {
        guard let body = try await store.bytes(of: response) else { return }
        let persistRows = try resource.validate(
            IncomingResponse(status: .ok, headerFields: response.head.headerFields, body: Array(body))
        )
        try await store.database.write { try persistRows($0) }
    }

    private func person(in request: ScreenRequest) throws -> Person {
        let id = try request.parameter("id")
        guard let number = Int64(id), String(number) == id, let person = try store.person(number) else {
            throw Problem.notFound("There is no person \(id).")
        }
        return person
    }
}
