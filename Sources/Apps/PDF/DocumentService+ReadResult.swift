import Concurrency
import Foundation
import HTTPTypes
import Screens
import Storage
import Upstream

extension DocumentService {
    /// Width of a picture of a page where the client does not say, in pixels.
    static let standardWidth = 320

    /// `GET /v1/pdf/documents`: what was saved, newest first.
    @Sendable func list(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let page = try request.query.page()
        let changeToken = store.changeToken(profile: profile)
        let listing = try store.list(profile: profile, page: page)
        let shown = Page(page, count: listing.rows.count, total: listing.total)
        let isEmpty = listing.total == 0
        let content = DocumentListScreen(
            items: listing.rows.map { .init($0, canMerge: listing.total > 1) },
            revision: listing.revision,
            empty: isEmpty ? .init() : nil
        )
        return try screen(
            content,
            "pdf.list",
            state: isEmpty ? .empty : .content,
            page: shown,
            revision: listing.revision,
            links: request.links(for: shown),
            changeToken: changeToken
        )
    }

    /// `GET /v1/pdf/documents/{id}`.
    @Sendable func reader(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = store.changeToken(profile: profile)
        return try shown(try document(request, profile: profile), changeToken: changeToken)
    }

    /// `GET …/file`: the PDF, to be shared.
    @Sendable func file(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (document, file) = try opened(request)
        let content = FileContent(
            blob: file,
            type: FileKind.pdf.rawValue,
            version: "\(document.blob.id)",
            fileName: document.fileName,
            disposition: .attachment
        )
        return try .content(content, to: request, now: clock.now()).byProfile()
    }

    /// A document and its open file. Between the look and the opening somebody may have changed it; then it is another
    /// file.
    private func opened(_ request: ScreenRequest) throws -> (Document, BlobReader) {
        let profile = try request.profile()
        let document = try document(request, profile: profile)
        do {
            return (document, try store.database.blobs.reader(document.blob))
        } catch StorageError.blobUnavailable {
            let again = try self.document(request, profile: profile)
            return (again, try store.database.blobs.reader(again.blob))
        }
    }

    /// `GET …/thumbnail`: the first page.
    @Sendable func documentThumbnail(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await thumbnail(request) { _ in 0 }
    }

    /// `GET …/pages/{page_id}/thumbnail`.
    @Sendable func pageThumbnail(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try request.parameter("page_id")
        return try await thumbnail(request) { try $0.index(of: id) }
    }

    private func thumbnail(_ request: ScreenRequest, of choose: @Sendable (Document) throws -> Int) async throws
        -> ScreenResponse
    {
        let profile = try request.profile()
        let width =
            try request.query.integer("width", in: 1...options.maximumWidth)
            ?? min(Self.standardWidth, options.maximumWidth)
        let changeToken = store.changeToken(profile: profile)
        var document = try document(request, profile: profile)
        for attempt in 1...2 {
            let index = try choose(document)
            let page = document.pages[index]
            do {
                return Self.picture(
                    try await picture(of: page, number: index + 1, of: document, width: width),
                    document,
                    changeToken
                )
            } catch {
                // While the page was drawn, a change may have taken the file away: that is no fault of the file's.
                let now = try self.document(request, profile: profile)
                guard attempt == 1, now.blob != document.blob else {
                    if let error = error as? DocumentEngineError { throw Problem(error, titles: []) }
                    throw error
                }
                document = now
            }
        }
        throw Problem(
            .overloaded,
            "The document changes faster than it can be drawn.",
            headerFields: [.retryAfter: "1"]
        )
    }

    /// The kept picture of a page, or a new one. Who asks for what is being drawn waits for it, so that nothing is
    /// drawn twice at once.
    private func picture(of page: DocumentPage, number: Int, of document: Document, width: Int) async throws
        -> DocumentEngine.Picture
    {
        if let kept = try await store.thumbnail(of: page, width: width, at: clock.now()) { return kept }
        return try await drawings.holding(["\(page.content) \(page.rotation) \(width)"]) {
            if let kept = try await store.thumbnail(of: page, width: width, at: clock.now()) { return kept }
            let drawn = try await engine.draw(
                store.database.blobs.filePath(of: document.blob),
                number,
                page.shownSize,
                width
            )
            try await store.keep(drawn, of: page, width: width, budget: options.thumbnailBytes, at: clock.now())
            return drawn
        }
    }

    private static func picture(_ picture: DocumentEngine.Picture, _ document: Document, _ changeToken: ChangeToken)
        -> ScreenResponse
    {
        ScreenResponse.localPicture(
            picture.bytes,
            type: picture.type,
            changeToken: document.isDraft ? nil : changeToken
        ).byProfile()
    }
}

extension Document {
    /// The place of a page, from 0; 404 where there is none of that id.
    func index(of page: String) throws -> Int {
        guard let index = pages.firstIndex(where: { $0.id == page }) else {
            throw Problem.notFound("The document has no page \(page).")
        }
        return index
    }
}
