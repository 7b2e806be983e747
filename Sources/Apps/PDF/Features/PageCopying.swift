import Concurrency
import Foundation
import HTTP
import JSONValues
import Media
import Screens

/// Makes saved documents of pages of others, which stay unchanged.
struct PageCopying: Sendable {
    /// A page of one of the documents, by their positions.
    private typealias Place = (source: Int, page: Int)

    let pdf: PDF

    /// `POST /v1/pdf/merge {"documents", "name"?}`, or `first` and `second`: all pages of these documents.
    @Sendable func merge(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let fields = try await request.jsonObject()
        let ids = try Self.ids(fields)
        let name = try fields.string("name").map(DocumentName.accepted)
        try request.writePreconditions().check(version: nil)
        return try await make(request, profile: profile) {
            var sources: [Document] = []
            for id in ids { sources.append(try await pdf.lookup.savedDocument(id, profile: profile)) }
            return sources
        } of: { sources in
            guard sources.reduce(0, { $0 + $1.pages.count }) <= pdf.options.maximumPages else {
                throw MediaError.tooManyPages(limit: pdf.options.maximumPages)
            }
            let pages = sources.enumerated().flatMap { index, source in
                source.pages.indices.map { (source: index, page: $0) }
            }
            let joined = DocumentName.joined(sources[0].name, sources[1].name)
            let beginning = DocumentName.shortened(joined, to: DocumentName.longest - 8)
            return (pages, name ?? (sources.count == 2 ? joined : "\(beginning) + …"))
        }
    }

    /// `POST …/extract {"pages", "name"?}`: these pages of a document, in this order.
    @Sendable func extract(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let fields = try await request.jsonObject()
        let (wanted, name) = (try PageList(fields), try fields.string("name").map(DocumentName.accepted))
        return try await make(request, profile: profile) {
            [try await pdf.lookup.documentToChange(request, profile: profile)]
        } of: { sources in
            let pages = try wanted.indices(in: sources[0]).map { (source: 0, page: $0) }
            let stem = DocumentName.shortened(sources[0].name, to: DocumentName.longest - 10)
            return (pages, name ?? "\(stem) (extract)")
        }
    }

    private func make(
        _ request: ScreenRequest,
        profile: String,
        _ read: @escaping @Sendable () async throws -> [Document],
        of choose: @escaping @Sendable ([Document]) throws -> (pages: [Place], name: String)
    ) async throws -> ScreenResponse {
        try await pdf.store.catchUpToChange()
        // Errors in them are reported before the job begins.
        _ = try await read()
        let (new, response) = try await pdf.jobs.run(request) { progress in
            try await pdf.lookup.retrying {
                let sources = try await read()
                let (pages, name) = try choose(sources)
                let composed = pages.map { ComposedPage(source: $0.source, page: $0.page + 1) }
                let file = try await pdf.arranger.write(composed, of: sources, title: name, progress)
                let copies = pages.map { sources[$0.source].pages[$0.page].copy() }
                return try await request.answering { (new: [DocumentStore.Changed]) in
                    try pdf.lookup.reader(new[0], isNew: true, profile: profile)
                } to: {
                    try await pdf.store.insert(
                        [DocumentStore.New(name: name, file: file, pages: copies)],
                        profile: profile,
                        created: pdf.clock.now(),
                        draftUntil: nil,
                        quota: pdf.options.quota(of: profile)
                    )
                }
            }
        }
        pdf.events.publishList(new[0].revision, of: profile)
        return response
    }

    /// The most documents that one request joins.
    private static let mostDocuments = 100

    /// Reads `documents`, or `first` and `second`.
    private static func ids(_ fields: JSONFields) throws -> [String] {
        guard let documents = try fields.strings("documents") else { return try pair(fields) }
        guard fields.values["first"] == nil, fields.values["second"] == nil else {
            let detail: Text = "documents cannot stand beside first and second."
            throw Problem.validation([.field("/documents", "contradictory", detail)])
        }
        guard (2...mostDocuments).contains(documents.count), Set(documents).count == documents.count else {
            throw Problem.validation([.field("/documents", "invalid", .documentsForm(mostDocuments))])
        }
        return documents
    }

    private static func pair(_ fields: JSONFields) throws -> [String] {
        let names = ["first", "second"]
        let ids = try names.map { try fields.string($0) ?? "" }
        let missing = zip(names, ids).filter { $1.isEmpty }.map { field, _ in
            Problem.FieldError.field("/\(field)", "required", .chooseDocuments)
        }
        guard missing.isEmpty else { throw Problem.validation(missing) }
        guard ids[0] != ids[1] else {
            throw Problem.validation([.field("/second", "invalid", .notWithItself)])
        }
        return ids
    }
}
