import Concurrency
import Foundation
import HTTPTypes
import Media
import Screens
import Storage

/// Thumbnails of pages: drawn once, stored within a budget.
struct DocumentThumbnails: Sendable {
    /// Width in pixels if the client names none.
    private static let standardWidth = 320

    let pdf: PDF
    /// Pages that could not be drawn lately.
    private let failures = DrawingFailures()
    /// Held by the request that draws a thumbnail, so that nothing is drawn twice at once.
    let locks = KeyedMutex()

    /// `GET …/thumbnail`: the first page.
    @Sendable func ofDocument(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await thumbnail(request) { _ in 0 }
    }

    /// `GET …/pages/{page_id}/thumbnail`.
    @Sendable func ofPage(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try request.parameter("page_id")
        return try await thumbnail(request) { try $0.index(of: id) }
    }

    private func thumbnail(_ request: ScreenRequest, of choose: @Sendable (Document) throws -> Int) async throws
        -> ScreenResponse
    {
        let profile = try request.profile()
        let width =
            try request.query.integer("width", in: 1...pdf.options.maximumWidth)
            ?? min(Self.standardWidth, pdf.options.maximumWidth)
        let changeToken = pdf.store.changeToken(profile: profile)
        let id = try request.parameter("id")
        let isCurrent = try await pdf.store.catchUp() == nil
        var (document, stored) = try pdf.thumbnails.database.read { _ in
            guard let document = try pdf.store.document(id, profile: profile, at: pdf.clock.now()) else {
                throw Problem.noDocument
            }
            let page = document.pages[try choose(document)]
            return (document, try pdf.thumbnails.storedThumbnail(of: page, width: width))
        }
        if let stored {
            let page = document.pages[try choose(document)]
            try await pdf.thumbnails.noteUse(
                ofThumbnailOf: page,
                width: width,
                after: stored.lastUsed,
                at: pdf.clock.now()
            )
            return Self.response(stored.thumbnail, document, isCurrent ? changeToken : nil)
        }
        let drawn = try await pdf.lookup.retrying {
            do {
                return try await thumbnail(request, at: try choose(document), of: document, width: width)
            } catch is DocumentStore.Gone {
                // The page was changed while it was drawn, or its document was deleted.
                document = try await pdf.lookup.document(request, profile: profile)
                throw DocumentStore.Gone()
            } catch {
                throw Problem(error) ?? error
            }
        }
        return Self.response(drawn, document, isCurrent ? changeToken : nil)
    }

    /// Returns the stored thumbnail of a page, or draws it. Requests for a page that is being drawn wait for it, also
    /// at another width: if it cannot be drawn, it is tried once.
    private func thumbnail(_ request: ScreenRequest, at index: Int, of document: Document, width: Int) async throws
        -> ThumbnailStore.Thumbnail
    {
        let page = document.pages[index]
        if let stored = try await pdf.thumbnails.thumbnail(of: page, width: width, at: pdf.clock.now()) {
            return stored
        }
        return try await locks.holding([page.content]) {
            if let stored = try await pdf.thumbnails.thumbnail(of: page, width: width, at: pdf.clock.now()) {
                return stored
            }
            let picture = try await draw(request, at: index, of: document, width: width)
            let drawn = ThumbnailStore.Thumbnail(data: picture.data, mediaType: picture.mediaType)
            let (budget, now) = (pdf.options.settings[PDFApp.thumbnailBytes], pdf.clock.now())
            try await pdf.thumbnails.save(drawn, of: page, width: width, budget: budget, at: now)
            return drawn
        }
    }

    /// Draws a page, unless that has failed lately: then its failure is repeated.
    private func draw(_ request: ScreenRequest, at index: Int, of document: Document, width: Int) async throws
        -> RenderedPicture
    {
        let page = document.pages[index]
        let (shown, file) = (page.shownSize, try await pdf.store.file(of: document, in: pdf.scratch))
        let size = PDFPage(width: shown.width, height: shown.height, rotation: 0)
        defer { withExtendedLifetime(file) {} }
        return try await failures.drawing(page.content, at: pdf.clock.now) { [engine = pdf.engine] in
            try await request.whileClientWaits {
                try await engine.picture(index + 1, URL(filePath: file.path), size, width)
            }
        }
    }

    private static func response(
        _ thumbnail: ThumbnailStore.Thumbnail,
        _ document: Document,
        _ changeToken: ChangeToken?
    ) -> ScreenResponse {
        ScreenResponse.localPicture(
            thumbnail.data,
            type: thumbnail.mediaType,
            changeToken: document.isDraft ? nil : changeToken
        ).byProfile()
    }
}
