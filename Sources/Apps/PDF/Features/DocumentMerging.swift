import Concurrency
import Database
import Foundation
import Freshness
import Media
import Screens

/// Makes a saved document of all pages of two others.
struct DocumentMerging: Sendable {
    let lookup: DocumentLookup
    let jobs: DocumentJobs
    /// By id of the document.
    let locks: KeyedMutex
    let arranger: PageArranger
    let options: PDFApp.Limits

    /// `POST /v1/pdf/merge {"first", "second", "name"?}`: the merged documents stay unchanged.
    @Sendable func merge(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let fields = try await request.jsonObject()
        let ids = try Self.ids(fields)
        let name = try fields.string("name").map(DocumentName.accepted)
        try Self.check(ids)
        try request.writePreconditions().check(version: nil)
        // Errors in them are reported before the request waits for locks.
        _ = try await sources(ids, profile: profile)
        let new = try await jobs.run(request) { progress in
            try await locks.holding(ids) {
                let read = { try await sources(ids, profile: profile) }
                let new = try await DocumentLookup.repeating(try await read(), again: read) { sources in
                    try await merged(sources, name: name, progress)
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
        return try await lookup.reader(new.documents[0], isNew: true, profile: profile)
    }

    private func sources(_ ids: [String], profile: String) async throws -> [Document] {
        var sources: [Document] = []
        for id in ids { sources.append(try await lookup.savedDocument(id, profile: profile)) }
        return sources
    }

    private func merged(_ sources: [Document], name: String?, _ progress: @escaping DocumentJobs.Progress) async throws
        -> DocumentStore.New
    {
        guard sources.reduce(0, { $0 + $1.pages.count }) <= options.maximumPages else {
            throw MediaError.tooManyPages(limit: options.maximumPages)
        }
        let pages = sources.enumerated().flatMap { index, source in
            source.pages.indices.map { ComposedPage(source: index, page: $0 + 1) }
        }
        let name = name ?? DocumentName.joined(sources[0].name, sources[1].name)
        return DocumentStore.New(
            name: name,
            file: try await arranger.write(pages, of: sources, title: name, progress),
            pages: sources.flatMap(\.pages).map { $0.copy() }
        )
    }

    private static func ids(_ fields: JSONFields) throws -> [String] {
        try ["first", "second"].map { try fields.string($0) ?? "" }
    }

    private static func check(_ ids: [String]) throws {
        let missing = zip(["first", "second"], ids).filter { $1.isEmpty }.map { field, _ in
            Problem.FieldError.field("/\(field)", "required", "\(field) must be the id of a document.")
        }
        guard missing.isEmpty else { throw Problem.validation(missing) }
        guard ids[0] != ids[1] else {
            throw Problem.validation([.field("/second", "invalid", "A document cannot be merged with itself.")])
        }
    }
}

/// Makes a saved document of some pages of another one.
struct PageExtraction: Sendable {
    let lookup: DocumentLookup
    let jobs: DocumentJobs
    /// By id of the document.
    let locks: KeyedMutex
    let arranger: PageArranger
    let options: PDFApp.Limits

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
        return try await lookup.reader(new.documents[0], isNew: true, profile: profile)
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
