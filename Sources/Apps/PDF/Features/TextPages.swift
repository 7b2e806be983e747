import Database
import Foundation
import Freshness
import Media
import Screens

/// Typesets dictated text on new pages of a document.
struct TextPages: Sendable {
    let editor: DocumentEditor
    let engine: DocumentEngine
    let arranger: PageArranger
    let options: PDFApp.Options

    /// What the response tells of the new pages.
    private struct Added: Sendable {
        var pages: [String]
        var missingGlyphs: [String]
    }

    /// `POST …/pages {"text", "locale"?, "at"?}`: as many pages as the text needs.
    @Sendable func add(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        let content = try TextContent(try await request.jsonObject(), maximumBytes: options.maximumTextBytes)
        return try await editor.change(request) { document in
            try content.position(in: document)
        } work: { document, position, progress in
            try await add(content, to: document, at: position, progress)
        } response: { document, added in
            let screen = DocumentTextScreen(
                document: DocumentScreen(document),
                added: added.pages,
                missingCharacters: added.missingGlyphs
            )
            return try .changed(document, as: screen, "pdf.reader")
        }
    }

    /// Typesets the text into a file of its own, and inserts its pages into the document's.
    private func add(
        _ content: TextContent,
        to document: Document,
        at position: Int,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> DocumentEditor.Change<Added> {
        let output = arranger.scratch.place(".pdf")
        let url = URL(filePath: output.path)
        let typeset = try await engine.textPages(content.text, content.locale, url) { progress($0.fraction / 2) }
        defer { withExtendedLifetime(output) {} }
        let new = typeset.pages.map { DocumentPage($0, kind: .text) }
        guard document.pages.count + new.count <= options.maximumPages else {
            throw MediaError.tooManyPages(limit: options.maximumPages)
        }
        var sources = document.pages.indices.map { ComposedPage(page: $0 + 1) }
        sources.insert(contentsOf: new.indices.map { ComposedPage(source: 1, page: $0 + 1) }, at: position)
        var pages = document.pages
        pages.insert(contentsOf: new, at: position)
        return DocumentEditor.Change(
            blob: try await arranger.write(sources, of: [arranger.store.file(of: document), url]) {
                progress(0.5 + $0 / 2)
            },
            pages: pages,
            detail: Added(pages: new.map(\.id), missingGlyphs: typeset.missingGlyphs)
        )
    }
}
