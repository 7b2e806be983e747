import Database
import Foundation
import Media

/// Writes pages of documents to a new file.
struct PageArranger: Sendable {
    let engine: DocumentEngine
    let store: DocumentStore
    let scratch: ScratchFolder

    /// Writes a file of these pages and makes it a blob that no row names yet.
    ///
    /// - Parameters:
    ///   - pages: `source` is a position among the files.
    ///   - files: the files of documents, and new pages.
    ///   - title: the title of the PDF.
    /// - Throws: ``MediaError``; ``StorageError``.
    func write(
        _ pages: [ComposedPage],
        of files: [URL],
        title: String,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> Blob {
        let output = scratch.place(".pdf")
        let composition = DocumentEngine.Composition(pages: pages, sources: files, title: title)
        _ = try await engine.compose(composition, URL(filePath: output.path)) { progress($0.fraction) }
        return try store.database.blobs.adopt(output)
    }

    /// Writes a file of pages of these documents.
    ///
    /// - Throws: ``MediaError``; ``StorageError``.
    func write(
        _ pages: [ComposedPage],
        of documents: [Document],
        title: String,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> Blob {
        try await write(pages, of: documents.map { store.file(of: $0) }, title: title, progress)
    }

    /// Inserts the pages of a file into a document.
    ///
    /// - Parameters:
    ///   - new: the pages of the file.
    ///   - position: of the first of them in the document, from 0.
    ///   - maximumPages: the most pages of a document.
    /// - Returns: the new file and the pages of the document.
    /// - Throws: ``MediaError``; ``StorageError``.
    func insert(
        _ new: [DocumentPage],
        of file: URL,
        into document: Document,
        at position: Int,
        maximumPages: Int,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> (blob: Blob, pages: [DocumentPage]) {
        guard document.pages.count + new.count <= maximumPages else {
            throw MediaError.tooManyPages(limit: maximumPages)
        }
        var sources = document.pages.indices.map { ComposedPage(page: $0 + 1) }
        sources.insert(contentsOf: new.indices.map { ComposedPage(source: 1, page: $0 + 1) }, at: position)
        var pages = document.pages
        pages.insert(contentsOf: new, at: position)
        let blob = try await write(sources, of: [store.file(of: document), file], title: document.name, progress)
        return (blob, pages)
    }
}
