import Concurrency
import Screens
import Upstream

extension DocumentService {
    /// `POST …/save {"name"?}`: a draft becomes a document of the list. A second time changes nothing but the name, if
    /// one is given.
    @Sendable func save(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        let name = try await request.optionalJSONObject()?.string("name")
        return try await keep(request, name: try name.map(DocumentName.accepted), isSaved: true)
    }

    /// `PATCH … {"name"}`.
    @Sendable func rename(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        guard let name = try await request.jsonObject().string("name") else {
            throw Problem.validation([.field("/name", "required", "name must be a text.")])
        }
        return try await keep(request, name: try DocumentName.accepted(name), isSaved: false)
    }

    private func keep(_ request: ScreenRequest, name: String?, isSaved: Bool) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try document(request, profile: profile).id
        return try await turns.holding([id]) {
            _ = try documentToChange(request, profile: profile)
            guard
                let (document, revision) = try await store.save(
                    id,
                    name: name,
                    isSaved: isSaved,
                    profile: profile,
                    at: clock.now()
                )
            else {
                throw Self.unknown(id)
            }
            announce(revision)
            return try shown(document)
        }
    }

    /// `DELETE /v1/pdf/documents/{id}`. What was merged or extracted from it stays.
    @Sendable func delete(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try request.parameter("id")
        let revision = try await turns.holding([id]) {
            _ = try documentToChange(request, profile: profile)
            guard let (_, revision) = try await store.delete(id, profile: profile, at: clock.now()) else {
                throw Self.unknown(id)
            }
            return revision
        }
        announce(revision)
        let now = try revision ?? store.revision(profile: profile)
        return try screen(
            DocumentDeletionScreen(id: id, revision: now),
            "pdf.list",
            revision: now,
            links: Links(self: "/v1/pdf/documents")
        )
    }
}
