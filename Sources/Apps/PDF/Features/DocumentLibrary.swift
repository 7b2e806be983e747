import Concurrency
import Foundation
import HTTPTypes
import Screens
import Storage

/// The saved documents, one document in the reader, and its file.
struct DocumentLibrary: Sendable {
    let pdf: PDF

    /// `GET /v1/pdf/documents`: the saved documents, newest first.
    @Sendable func list(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let zone = try request.query.timeZone() ?? .gmt
        let search = DocumentSearch(try request.query.string("q"))
        let list = DocumentStore.Listing.list(search)
        let page = try request.query.page(of: list)
        let changeToken = pdf.store.changeToken(profile: profile)
        let banner = try await pdf.store.catchUp()
        let listing = try pdf.store.list(profile: profile, page: page, search)
        let isEmpty = listing.page.total == 0
        let refusal = pdf.options.quota(of: profile).refusalOfPages(beside: listing.usage)
        let create = Action.newDocument(disabled: refusal)
        let noDocuments = EmptyState(title: .noDocuments, text: .noDocumentsHint, action: create)
        let content = DocumentListScreen(
            items: listing.page.rows.map {
                .init(DocumentProperties($0, zone: zone), canMerge: listing.count > 1, refusal: refusal)
            },
            revision: listing.revision,
            actions: [create, Trash.documents.show],
            empty: isEmpty ? (search == nil ? noDocuments : .noMatches) : nil
        )
        // `If-Match` of a creation is compared with the version.
        return try ScreenResponse.local(
            content,
            "pdf.list",
            request,
            state: isEmpty ? .empty : .content,
            revision: listing.revision,
            stale: banner,
            page: list.part(listing.page, of: page),
            variant: listing.variant,
            changeToken: changeToken
        ).byProfile().at(version: listing.revision)
    }

    /// `GET /v1/pdf/drafts`: the documents that are not saved yet, newest first.
    @Sendable func drafts(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let banner = try await pdf.store.catchUp()
        let (drafts, usage) = try pdf.store.drafts(profile: profile, at: pdf.clock.now())
        let zone = try request.query.string("tz")
        let link: Link = "/v1/pdf/drafts"
        // They expire by time, which no change token tells.
        return try .pdf(
            DocumentDraftsScreen(
                drafts,
                zone: try request.query.timeZone() ?? .gmt,
                refusal: pdf.options.quota(of: profile).refusalOfPages(beside: usage)
            ),
            "pdf.drafts",
            state: drafts.isEmpty ? .empty : .content,
            links: Links(self: zone.map { link.query("tz", $0) } ?? link),
            stale: banner
        )
    }

    /// `GET /v1/pdf/documents/{id}`.
    @Sendable func reader(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let zone = try request.query.timeZone() ?? .gmt
        let changeToken = pdf.store.changeToken(profile: profile)
        let banner = try await pdf.store.catchUp()
        let id = try request.parameter("id")
        guard let (document, usage) = try pdf.store.shown(id, profile: profile, at: pdf.clock.now()) else {
            throw Problem.noDocument
        }
        let link = try request.query.string("tz").map { DocumentProperties.href(document.id).query("tz", $0) }
        return try .reader(
            document,
            zone: zone,
            self: link,
            pdf.lookup.conditions(beside: usage, profile),
            stale: banner,
            changeToken: changeToken
        )
    }

    /// `GET …/file`: the PDF, to be shared.
    @Sendable func file(_ request: ScreenRequest) async throws -> ScreenResponse {
        let content = try await pdf.lookup.content(request, profile: try request.profile())
        return try .content(content, to: request, now: pdf.clock.now()).byProfile()
    }
}

/// The saved documents of a profile as files of an archive: PDFs under their names, and an index of them.
enum DocumentArchive {
    /// The documents of `documents.json`.
    private struct Index: Encodable {
        struct Record: Encodable {
            let id: String
            let name: String
            let file: String
            let createdAt: Date
            let size: Int
            let pageCount: Int
        }

        let documents: [Record]
    }

    /// Adds the documents, in the read transaction of the archive.
    ///
    /// - Returns: their number.
    static func add(_ store: DocumentStore, of profile: String, to archive: ZipArchive) throws -> [String: Int] {
        let records = try store.savedDocuments(profile: profile).map { document, pageCount in
            let (name, created) = (document.name, document.created)
            return Index.Record(
                id: document.id,
                name: name,
                file: try archive.add(document.blob, in: "documents", name: name, ending: "pdf", modified: created),
                createdAt: created,
                size: document.blob.length,
                pageCount: pageCount
            )
        }
        try archive.add(json: Index(documents: records), as: "documents/documents.json")
        return ["documents": records.count]
    }
}
