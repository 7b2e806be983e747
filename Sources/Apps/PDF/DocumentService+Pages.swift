import Concurrency
import Foundation
import Screens
import Storage
import Upstream

extension DocumentService {
    /// `DELETE …/pages/{page_id}`. The last page is not deleted: 409.
    @Sendable func deletePage(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try request.parameter("page_id")
        return try await change(request) { document in
            let index = try document.index(of: id)
            guard document.pages.count > 1 else {
                throw Problem(
                    .lastPage,
                    "The only page of a document cannot be deleted; DELETE \(DocumentScreen.href(document.id)) deletes the document."
                )
            }
            return document.pages.indices.filter { $0 != index }.map { Step(page: $0) }
        }
    }

    /// `PATCH …/pages/{page_id} {"rotate_by"}`: clockwise, adding up.
    @Sendable func rotate(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try request.parameter("page_id")
        _ = try request.profile()
        guard case .number(let wanted) = try await request.jsonObject().values["rotate_by"],
            let degrees = Int(exactly: wanted), degrees % 90 == 0
        else {
            throw Problem.validation([
                .field("/rotate_by", "invalid", "rotate_by must be a multiple of 90, in degrees clockwise.")
            ])
        }
        let turn = ((degrees % 360) + 360) % 360
        return try await change(request) { document in
            let index = try document.index(of: id)
            return document.pages.indices.map { Step(page: $0, turn: $0 == index ? turn : 0) }
        }
    }

    /// `PUT …/pages/order {"pages"}`: all pages, each once.
    @Sendable func reorder(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        let wanted = try await pageIDs(request)
        return try await change(request) { document in
            let indices = try Self.indices(of: wanted, in: document)
            guard indices.count == document.pages.count else {
                let detail =
                    "pages must name all \(document.pages.count) pages of the document; \(document.pages.count - indices.count) are missing."
                throw Problem.validation([.field("/pages", "incomplete", detail)])
            }
            return indices.map { Step(page: $0) }
        }
    }

    /// `POST …/extract {"pages", "name"?}`: a new saved document of these pages in this order.
    @Sendable func extract(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let fields = try await request.jsonObject()
        let (wanted, name) = (try Self.pageIDs(fields), try fields.string("name").map(DocumentName.accepted))
        let id = try document(request, profile: profile).id
        let new = try await job(request) { progress in
            try await turns.holding([id]) {
                let source = try document(request, profile: profile)
                let indices = try Self.indices(of: wanted, in: source)
                let name = name ?? "\(DocumentName.shortened(source.name, to: DocumentName.longest - 10)) (extract)"
                let blob = try await arranged([source], indices.map { .init(file: 0, page: $0 + 1) }, progress)
                return try await store.insert(
                    [.init(name: name, blob: blob, pages: indices.map { source.pages[$0].renamed() })],
                    profile: profile,
                    created: clock.now(),
                    draftUntil: nil
                )
            }
        }
        announce(new.revision)
        return try shown(new.documents[0], isNew: true)
    }

    /// A page of a document as it is to be, by its place now, and by how much it is turned.
    struct Step: Sendable, Equatable {
        var page: Int
        var turn = 0
    }

    /// Changes a document: `plan` says, of the document as it is when its turn has come, which pages it is to have.
    private func change(_ request: ScreenRequest, _ plan: @Sendable (Document) throws -> [Step]) async throws
        -> ScreenResponse
    {
        let profile = try request.profile()
        let id = try document(request, profile: profile).id
        return try await turns.holding([id]) {
            let before = try documentToChange(request, profile: profile)
            let steps = try plan(before)
            // What is as it is already takes no file to be written again.
            guard steps != before.pages.indices.map({ Step(page: $0) }) else { return try shown(before) }
            let (after, revision) = try await job(request, on: before, profile: profile) { progress in
                let blob = try await arranged(
                    [before],
                    steps.map { .init(file: 0, page: $0.page + 1, turn: $0.turn) },
                    progress
                )
                let pages = steps.map { before.pages[$0.page].turned(by: $0.turn) }
                return try await replace(before, blob: blob, pages: pages, profile: profile)
            }
            announce(revision)
            return try shown(after)
        }
    }

    /// Writes pages of documents to a new file.
    func arranged(_ sources: [Document], _ picks: [DocumentEngine.Pick], _ progress: @escaping DocumentEngine.Progress)
        async throws -> Blob
    {
        let output = scratch.place(".pdf")
        try await engine.arrange(
            sources.map { store.database.blobs.filePath(of: $0.blob) },
            picks,
            output.path,
            progress
        )
        return try store.adopt(output)
    }

    func replace(_ before: Document, blob: Blob, pages: [DocumentPage], profile: String) async throws -> (
        document: Document, revision: Int?
    ) {
        do {
            return try await store.replace(before, blob: blob, pages: pages, profile: profile, draftUntil: draftEnd)
        } catch is DocumentStore.Gone {
            throw Self.unknown(before.id)
        }
    }

    private func pageIDs(_ request: ScreenRequest) async throws -> [String] {
        try Self.pageIDs(try await request.jsonObject())
    }

    private static func pageIDs(_ fields: JSONFields) throws -> [String] {
        guard let ids = try fields.strings("pages"), !ids.isEmpty else {
            throw Problem.validation([
                .field("/pages", "required", "pages must be a list of ids of pages, one at least.")
            ])
        }
        return ids
    }

    /// The places of pages by their ids; 422 that names each id that is unknown or there twice.
    private static func indices(of ids: [String], in document: Document) throws -> [Int] {
        let places = Dictionary(uniqueKeysWithValues: document.pages.enumerated().map { ($1.id, $0) })
        var seen: Set<String> = []
        var errors: [Problem.FieldError] = []
        var indices: [Int] = []
        for (position, id) in ids.enumerated() {
            guard let index = places[id] else {
                errors.append(.field("/pages/\(position)", "unknown", "pages[\(position)] is no page of the document."))
                continue
            }
            if !seen.insert(id).inserted {
                errors.append(.field("/pages/\(position)", "duplicate", "pages[\(position)] is there twice."))
            }
            indices.append(index)
        }
        guard errors.isEmpty else { throw Problem.validation(Array(errors.prefix(20))) }
        return indices
    }
}

extension DocumentPage {
    /// The same page in another document: it looks alike and is called otherwise.
    func renamed() -> DocumentPage {
        var page = self
        page.id = DocumentIdentity.random()
        return page
    }
}
