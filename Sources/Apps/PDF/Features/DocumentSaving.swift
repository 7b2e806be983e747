import Concurrency
import Foundation
import HTTP
import JSONValues
import Media
import Screens
import Storage

/// Saves drafts, renames and deletes documents.
struct DocumentSaving: Sendable {
    let pdf: PDF

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
        let id = try await pdf.lookup.document(request, profile: profile).id
        return try await pdf.locks.holding([id]) {
            let (changed, response) = try await pdf.lookup.retrying {
                let before = try await pdf.lookup.documentToChange(request, profile: profile)
                let file = try await retitled(before, name: name, request, profile: profile)
                return try await request.answering { (changed: DocumentStore.Changed) in
                    try pdf.lookup.reader(changed, profile: profile)
                } to: {
                    try await pdf.store.save(
                        before,
                        name: name,
                        file: file,
                        isSaved: isSaved,
                        pdf.lookup.history(of: profile)
                    )
                }
            }
            pdf.events.publishList(changed.revision, of: profile)
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
        return try await pdf.jobs.run(request, on: document, profile: profile) { progress in
            try await pdf.arranger.write(pages, of: [document], title: name, progress)
        }
    }

    /// `DELETE /v1/pdf/documents/{id}`: to the trash, or permanently. Documents merged or extracted from it stay.
    @Sendable func delete(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try request.parameter("id")
        let toTrash = try !request.query.flag("permanently") && pdf.options.hasTrash
        return try await pdf.locks.holding([id]) {
            let (deletion, response) = try await request.answering { (deletion: DocumentStore.Changed?) in
                guard let deletion else { throw Problem.noDocument }
                let isInTrash = toTrash && !deletion.document.isDraft
                // That of a draft does not change the list.
                let current = try deletion.revision ?? pdf.store.revision(profile: profile)
                return try .pdf(
                    DeletionScreen(id: id, revision: current, actions: isInTrash ? [Trash.documents.undo(id)] : []),
                    "pdf.list",
                    revision: current,
                    links: Links(self: "/v1/pdf/documents")
                )
            } to: {
                try await pdf.store.delete(
                    id,
                    toTrash: toTrash,
                    preconditions: request.writePreconditions(),
                    profile: profile,
                    at: pdf.clock.now()
                )
            }
            let isInTrash = toTrash && deletion?.document.isDraft == false
            pdf.events.publishList(
                deletion?.revision,
                of: profile,
                isInTrash ? EventStream.listAndTrash : EventStream.list
            )
            return response
        }
    }
}

/// Documents from the Disk, and to it.
struct DiskExchange: Sendable {
    let pdf: PDF
    let disk: AccountFiles

    /// `POST /v1/pdf/documents/from-disk {"path"}`: a photo or PDF of the Disk becomes a draft.
    @Sendable func importFile(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let profile = try request.profile()
        let parameters = try PageParameters(request.query, pdf.options)
        let creation = DocumentCreation(pdf: pdf)
        try await creation.checkRoom(request, profile: profile)
        let path = try Self.path(try await request.jsonObject())
        let fetched = try await Self.ofField {
            try await disk.fetch(path, session, pdf.scratch, pdf.options.maximumFileBytes)
        }
        let file = try SourceFile(
            title: fetched.name,
            fileName: fetched.name,
            length: fetched.file.length,
            place: fetched.file.place,
            index: 0,
            pointer: "/path"
        )
        return try await creation.create([[file]], parameters, request, profile: profile)
    }

    /// `POST …/save-to-disk {"path"}`: the file of a document is uploaded to the Disk.
    @Sendable func exportFile(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let profile = try request.profile()
        let path = try Self.path(try await request.jsonObject())
        let document = try await pdf.lookup.documentToChange(request, profile: profile)
        let file = try await pdf.store.content(of: document)
        // Before the upload: after it a failure would be untrue.
        let usage = try pdf.store.usage(profile: profile)
        let written = try await pdf.jobs.run(request) { _ in
            try await Self.ofField { try await disk.store(path, session, file) }
        }
        let screen = DocumentScreen(document, pdf.lookup.conditions(beside: usage, profile))
        return try .pdf(
            DocumentExportScreen(document: screen, diskPath: written),
            "pdf.reader",
            links: Links(self: DocumentProperties.href(document.id))
        )
    }

    /// The Disk app takes a path as a parameter; here it is a field of the body, and an error in it is 422
    /// (docs/contract.md, "Problems").
    private static func ofField<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let problem as Problem where problem.code == .invalidParameter && !problem.errors.isEmpty {
            throw Problem.validation(problem.errors.map { .field("/path", $0.code, "path \($0.detail).") })
        }
    }

    private static func path(_ fields: JSONFields) throws -> String {
        guard let path = try fields.string("path"), !path.isEmpty, path.utf8.count <= 32_760,
            !path.unicodeScalars.contains("\0")
        else {
            throw Problem.validation([.field("/path", "required", "path must be the path of a file on the Disk.")])
        }
        return path
    }
}
