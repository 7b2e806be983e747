import Concurrency
import Freshness
import Screens

/// Saves drafts, renames and deletes documents.
struct DocumentSaving: Sendable {
    let lookup: DocumentLookup
    let events: EventStream
    /// By id of the document.
    let locks: KeyedMutex

    private var store: DocumentStore { lookup.store }

    /// `POST …/save {"name"?}`: a draft becomes a saved document. A second time changes nothing but the name, if one is
    /// given.
    @Sendable func save(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        let name = try await request.optionalJSONObject()?.string("name")
        return try await save(request, name: try name.map(DocumentName.accepted), isSaved: true)
    }

    /// `PATCH … {"name"}`.
    @Sendable func rename(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        guard let name = try await request.jsonObject().string("name") else {
            throw Problem.validation([.field("/name", "required", "name must be a text.")])
        }
        return try await save(request, name: try DocumentName.accepted(name), isSaved: false)
    }

    private func save(_ request: ScreenRequest, name: String?, isSaved: Bool) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try lookup.document(request, profile: profile).id
        return try await locks.holding([id]) {
            _ = try lookup.documentToChange(request, profile: profile)
            let now = lookup.clock.now()
            guard
                let (document, revision) = try await store.save(
                    id,
                    name: name,
                    isSaved: isSaved,
                    profile: profile,
                    at: now
                )
            else { throw Problem.noDocument(id) }
            events.publishList(revision)
            return try .reader(document)
        }
    }

    /// `DELETE /v1/pdf/documents/{id}`. Documents that were merged or extracted from it stay.
    @Sendable func delete(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try request.parameter("id")
        let revision = try await locks.holding([id]) {
            _ = try lookup.documentToChange(request, profile: profile)
            guard let (_, revision) = try await store.delete(id, profile: profile, at: lookup.clock.now()) else {
                throw Problem.noDocument(id)
            }
            return revision
        }
        events.publishList(revision)
        let current = try revision ?? store.revision(profile: profile)
        return try .pdf(
            DocumentDeletionScreen(id: id, revision: current),
            "pdf.list",
            revision: current,
            links: Links(self: "/v1/pdf/documents"))
    }
}
