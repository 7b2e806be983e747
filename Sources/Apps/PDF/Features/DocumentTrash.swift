import Foundation
import Freshness
import Screens

/// The trash: documents that were deleted and can be restored.
struct DocumentTrash: Sendable {
    let lookup: DocumentLookup
    let events: EventStream
    /// How long a document stays there.
    let lifetime: Duration

    private var store: any Documents { lookup.store }

    /// `GET /v1/pdf/trash`: the last deleted first.
    @Sendable func list(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let zone = try request.query.timeZone() ?? .gmt
        let list = DocumentStore.TrashPage.list
        let asked = try request.query.page(of: list)
        let changeToken = store.changeToken(profile: profile)
        let page = try await store.trash(profile: profile, page: asked)
        let shown = Page(asked, count: page.rows.count, total: page.total, hasMore: page.hasMore)
        var response = try ScreenResponse.pdf(
            DocumentTrashScreen(page, lifetime: lifetime, zone: zone),
            "pdf.trash",
            state: page.total == 0 ? .empty : .content,
            page: shown,
            revision: page.revision,
            links: request.links(for: shown, next: page.next.map(list.cursor(after:))),
            changeToken: changeToken
        )
        response.version = String(page.revision)
        return response
    }

    /// `POST /v1/pdf/trash/{id}/restore`: restores the document unchanged. Repeating it changes nothing.
    @Sendable func restore(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try request.parameter("id")
        let restored = try await store.restore(
            id,
            preconditions: request.writePreconditions(),
            profile: profile,
            at: lookup.clock.now()
        )
        guard let (document, revision) = restored else { throw Problem.noDocument(id) }
        events.publishList(revision, of: profile, EventStream.listAndTrash)
        return try .reader(document)
    }

    /// `DELETE /v1/pdf/trash/{id}`: deletes it permanently.
    @Sendable func purge(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try request.parameter("id")
        let preconditions = request.writePreconditions()
        guard let revision = try await store.purge(id, preconditions: preconditions, profile: profile) else {
            throw Problem.noDocument(id)
        }
        events.publishList(revision, of: profile, ["pdf.trash"])
        return try response(removed: 1, revision: revision)
    }

    /// `DELETE /v1/pdf/trash`: deletes its contents permanently.
    @Sendable func empty(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let (count, revisions) = try await store.purgeTrash(
            of: profile,
            upTo: lookup.clock.now(),
            preconditions: request.writePreconditions()
        )
        events.publishList(revisions[profile], of: profile, ["pdf.trash"])
        let revision =
            if let revision = revisions[profile] { revision } else { try await store.revision(profile: profile) }
        return try response(removed: count, revision: revision)
    }

    private func response(removed: Int, revision: Int) throws -> ScreenResponse {
        try .pdf(
            DocumentPurgeScreen(removed: removed, revision: revision),
            "pdf.trash",
            revision: revision,
            links: Links(self: "/v1/pdf/trash")
        )
    }

    /// Permanently deletes what has expired.
    ///
    /// - Returns: how many documents that were.
    func purgeDue(at now: Date) async throws -> Int {
        let (count, revisions) = try await store.purgeTrash(
            of: nil,
            upTo: now.addingTimeInterval(-lifetime.seconds),
            preconditions: .none
        )
        for (profile, revision) in revisions { events.publishList(revision, of: profile, ["pdf.trash"]) }
        return count
    }
}
