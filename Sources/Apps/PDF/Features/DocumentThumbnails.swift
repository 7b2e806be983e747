import Concurrency
import Database
import Foundation
import Freshness
import HTTPTypes
import Media
import Screens

/// Thumbnails of pages: drawn once, stored within a budget.
struct DocumentThumbnails: Sendable {
    /// Width in pixels if the client names none.
    private static let standardWidth = 320

    let lookup: DocumentLookup
    let thumbnails: ThumbnailStore
    let engine: DocumentEngine
    let options: PDFApp.Limits
    /// Pages that could not be drawn lately.
    private let failures = DrawingFailures()
    /// Held by the request that draws a thumbnail, so that nothing is drawn twice at once.
    let locks = KeyedMutex()

    private var store: any Documents { lookup.store }

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
            try request.query.integer("width", in: 1...options.maximumWidth)
            ?? min(Self.standardWidth, options.maximumWidth)
        let changeToken = store.changeToken(profile: profile)
        let id = try request.parameter("id")
        let read = try await store.documentReader(id, profile: profile, at: lookup.clock.now())
        var (document, stored) = try thumbnails.database.read { _ in
            guard let document = try read() else { throw Problem.noDocument(id) }
            let page = document.pages[try choose(document)]
            return (document, try thumbnails.storedThumbnail(of: page, width: width))
        }
        if let stored {
            let page = document.pages[try choose(document)]
            try await thumbnails.noteUse(
                ofThumbnailOf: page,
                width: width,
                after: stored.lastUsed,
                at: lookup.clock.now()
            )
            return Self.response(stored.thumbnail, document, changeToken)
        }
        for attempt in 1...2 {
            let index = try choose(document)
            do {
                let thumbnail = try await thumbnail(request, at: index, of: document, width: width)
                return Self.response(thumbnail, document, changeToken)
            } catch {
                // A change may have removed the file while its page was drawn: the file is not at fault then.
                let now = try await lookup.document(request, profile: profile)
                if !(error is DocumentStore.Gone) {
                    guard attempt == 1, now.blob != document.blob else { throw Problem(error) ?? error }
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

    /// Returns the stored thumbnail of a page, or draws it. Requests for a page that is being drawn wait for it, also
    /// at another width: if it cannot be drawn, it is tried once.
    private func thumbnail(_ request: ScreenRequest, at index: Int, of document: Document, width: Int) async throws
        -> ThumbnailStore.Thumbnail
    {
        let page = document.pages[index]
        if let stored = try await thumbnails.thumbnail(of: page, width: width, at: lookup.clock.now()) { return stored }
        return try await locks.holding([page.content]) {
            if let stored = try await thumbnails.thumbnail(of: page, width: width, at: lookup.clock.now()) {
                return stored
            }
            let picture = try await draw(request, at: index, of: document, width: width)
            let drawn = ThumbnailStore.Thumbnail(data: picture.data, mediaType: picture.mediaType)
            let now = lookup.clock.now()
            try await store.save(
                drawn,
                of: page,
                width: width,
                in: thumbnails,
                budget: options.thumbnailBytes,
                at: now
            )
            return drawn
        }
    }

    /// Draws a page, unless that has failed lately: then its failure is repeated.
    private func draw(_ request: ScreenRequest, at index: Int, of document: Document, width: Int) async throws
        -> RenderedPicture
    {
        let page = document.pages[index]
        let (shown, file, engine) = (page.shownSize, try await store.file(of: document), engine)
        let size = PDFPage(width: shown.width, height: shown.height, rotation: 0)
        // A change may have removed the file meanwhile.
        let isPresent = { FileManager.default.fileExists(atPath: file.url.path) }
        return try await failures.drawing(page.content, at: lookup.clock.now, isPresent: isPresent) {
            try await request.whileClientWaits { try await engine.picture(index + 1, file.url, size, width) }
        }
    }

    private static func response(
        _ thumbnail: ThumbnailStore.Thumbnail,
        _ document: Document,
        _ changeToken: ChangeToken
    ) -> ScreenResponse {
        ScreenResponse.localPicture(
            thumbnail.data,
            type: thumbnail.mediaType,
            changeToken: document.isDraft ? nil : changeToken
        ).byProfile()
    }
}
