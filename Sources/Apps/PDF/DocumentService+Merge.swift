import Concurrency
import Foundation
import Screens
import Storage
import Upstream

extension DocumentService {
    /// `POST /v1/pdf/merge {"first", "second", "name"?}`: a new saved document of all pages of both, which stay as they
    /// are.
    @Sendable func merge(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let fields = try await request.jsonObject()
        let ids = try ["first", "second"].map { try fields.string($0) ?? "" }
        let name = try fields.string("name").map(DocumentName.accepted)
        let missing = zip(["first", "second"], ids).filter { $1.isEmpty }.map { field, _ in
            Problem.FieldError.field("/\(field)", "required", "\(field) must be the id of a document.")
        }
        guard missing.isEmpty else { throw Problem.validation(missing) }
        guard ids[0] != ids[1] else {
            throw Problem.validation([.field("/second", "invalid", "A document cannot be merged with itself.")])
        }
        _ = try ids.map { try saved($0, profile: profile) }  // What is wrong with them is said before anybody waits.
        let new = try await job(request) { progress in
            try await turns.holding(ids) {
                let sources = try ids.map { try saved($0, profile: profile) }
                let count = sources.reduce(0) { $0 + $1.pages.count }
                guard count <= options.maximumPages else {
                    throw DocumentEngineError.tooManyPages(source: nil, limit: options.maximumPages)
                }
                let picks = sources.enumerated().flatMap { file, source in
                    source.pages.indices.map { DocumentEngine.Pick(file: file, page: $0 + 1) }
                }
                let blob = try await arranged(sources, picks, progress)
                let merged = DocumentStore.New(
                    name: name ?? DocumentName.joined(sources[0].name, sources[1].name),
                    blob: blob,
                    pages: sources.flatMap(\.pages).map { $0.renamed() }
                )
                return try await store.insert([merged], profile: profile, created: clock.now(), draftUntil: nil)
            }
        }
        announce(new.revision)
        return try shown(new.documents[0], isNew: true)
    }

    private func saved(_ id: String, profile: String) throws -> Document {
        guard let document = try store.document(id, profile: profile, at: clock.now()) else { throw Self.unknown(id) }
        guard !document.isDraft else {
            throw Problem(.notSaved, "\(id) is a draft; POST \(DocumentScreen.href(id))/save saves it.")
        }
        return document
    }
}
