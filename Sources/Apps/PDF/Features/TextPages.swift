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

    /// `POST …/pages {"text", "locale"?, "at"?}`: as many pages as the text needs.
    ///
    /// - Throws: ``Problem``.
    func add(_ request: ScreenRequest) async throws -> ScreenResponse {
        let quota = options.quota(of: try request.profile())
        let fields = try await request.jsonObject(or: "multipart/form-data")
        let content = try TextContent(fields, maximumBytes: options.maximumTextBytes)
        return try await editor.change(request, quota: quota) { document in
            try content.place.position(in: document)
        } work: { document, position, progress in
            try await add(content, to: document, at: position, progress)
        } response: { document, added in
            try .changed(document, as: DocumentAdditionScreen(document, added), "pdf.reader")
        }
    }

    /// Typesets the text into a file of its own, and inserts its pages into the document's.
    private func add(
        _ content: TextContent,
        to document: Document,
        at position: Int,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> DocumentEditor.Change<AddedPages> {
        let output = arranger.scratch.place(".pdf")
        defer { withExtendedLifetime(output) {} }
        let url = URL(filePath: output.path)
        let typeset = try await engine.textPages(content.text, content.locale, url) { progress($0.fraction / 2) }
        let new = typeset.pages.map { DocumentPage($0, kind: .text) }
        let inserted = try await arranger.insert(
            new,
            of: url,
            into: document,
            at: position,
            maximumPages: options.maximumPages
        ) { progress(0.5 + $0 / 2) }
        let added = AddedPages(ids: new.map(\.id), missingCharacters: typeset.missingGlyphs)
        return DocumentEditor.Change(file: inserted.file, pages: inserted.pages, detail: added)
    }
}
