import Concurrency
import Database
import Foundation
import Freshness
import Media
import Screens

/// Makes a saved document of some pages of another one.
struct PageExtraction: Sendable {
    let lookup: DocumentLookup
    let jobs: DocumentJobs
    /// By id of the document.
    let locks: KeyedMutex
    let arranger: PageArranger
    let options: PDFApp.Options

    /// `POST …/extract {"pages", "name"?}`: a new saved document of these pages in this order.
    @Sendable func extract(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let fields = try await request.jsonObject()
        let (wanted, name) = (try PageList(fields), try fields.string("name").map(DocumentName.accepted))
        let id = try await lookup.documentToChange(request, profile: profile).id
        let new = try await jobs.run(request) { progress in
            try await locks.holding([id]) {
                let read = { try await lookup.documentToChange(request, profile: profile) }
                let new = try await DocumentLookup.repeating(try await read(), again: read) { source in
                    try await extracted(wanted, of: source, name: name, progress)
                }
                return try await lookup.store.insert(
                    [new],
                    profile: profile,
                    created: lookup.clock.now(),
                    draftUntil: nil,
                    quota: options.quota(of: profile)
                )
            }
        }
        jobs.events.publishList(new.revision, of: profile)
        return try .reader(new.documents[0], isNew: true)
    }

    private func extracted(
        _ wanted: PageList,
        of source: Document,
        name: String?,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> DocumentStore.New {
        let indices = try wanted.indices(in: source)
        let pages = indices.map { ComposedPage(page: $0 + 1) }
        let name = name ?? "\(DocumentName.shortened(source.name, to: DocumentName.longest - 10)) (extract)"
        return DocumentStore.New(
            name: name,
            file: try await arranger.write(pages, of: [source], title: name, progress),
            pages: indices.map { source.pages[$0].copy() }
        )
    }
}
