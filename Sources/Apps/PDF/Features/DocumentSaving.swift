import Concurrency
import JSONValues
import Media
import Screens
import Storage

/// Saves drafts, renames and deletes documents.
struct DocumentSaving: Sendable {
    let lookup: DocumentLookup
    let jobs: DocumentJobs
    let arranger: PageArranger
    /// By id of the document.
    let locks: KeyedMutex

    private var store: DocumentStore { lookup.store }
    private var events: EventStream { jobs.events }

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
        let id = try await lookup.document(request, profile: profile).id
        return try await locks.holding([id]) {
            let (changed, response) = try await lookup.retrying {
                let before = try await lookup.documentToChange(request, profile: profile)
                let file = try await retitled(before, name: name, request, profile: profile)
                return try await request.answering { (changed: DocumentStore.Changed) in
                    try lookup.reader(changed, profile: profile)
                } to: {
                    try await store.save(
                        before,
                        name: name,
                        file: file,
                        isSaved: isSaved,
                        lookup.history(of: profile)
                    )
                }
            }
            events.publishList(changed.revision, of: profile)
            return response
        }
    }

    /// Returns a new file of a document that is to have another name, because a PDF has its name as title; nil if the
    /// name stays.
    private func retitled(_ document: Document, name: String?, _ request: ScreenRequest, profile: String) async throws
        -> Blob?
    {
        guard let name, name != document.name else { return nil }
        let pages = document.pages.indices.map { ComposedPage(page: $0 + 1) }
        return try await jobs.run(request, on: document, profile: profile) { progress in
            try await arranger.write(pages, of: [document], title: name, progress)
        }
    }

    /// `DELETE /v1/pdf/documents/{id}`: to the trash, or permanently. Documents merged or extracted from it stay.
    @Sendable func delete(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try request.parameter("id")
        let toTrash = try !request.query.flag("permanently") && lookup.hasTrash
        return try await locks.holding([id]) {
            let (deletion, response) = try await request.answering { (deletion: DocumentStore.Changed?) in
                guard let deletion else { throw Problem.noDocument }
                let isInTrash = toTrash && !deletion.document.isDraft
                // That of a draft does not change the list.
                let current = try deletion.revision ?? store.revision(profile: profile)
                return try .pdf(
                    DeletionScreen(id: id, revision: current, actions: isInTrash ? [Trash.documents.undo(id)] : []),
                    "pdf.list",
                    revision: current,
                    links: Links(self: "/v1/pdf/documents")
                )
            } to: {
                try await store.delete(
                    id,
                    toTrash: toTrash,
                    preconditions: request.writePreconditions(),
                    profile: profile,
                    at: lookup.clock.now()
                )
            }
            let isInTrash = toTrash && deletion?.document.isDraft == false
            events.publishList(deletion?.revision, of: profile, isInTrash ? EventStream.listAndTrash : EventStream.list)
            return response
        }
    }
}
