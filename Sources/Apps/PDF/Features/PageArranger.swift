import Database
import Foundation
import Media

/// Writes pages of documents to a new file.
struct PageArranger: Sendable {
    let engine: DocumentEngine
    let store: any Documents
    let scratch: ScratchFolder

    /// Writes a file of these pages, for a document that is changed or made next.
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
    ) async throws -> StagedFile {
        let output = scratch.place(".pdf")
        let composition = DocumentEngine.Composition(pages: pages, sources: files, title: title)
        _ = try await engine.compose(composition, URL(filePath: output.path)) { progress($0.fraction) }
        return try store.stage(output)
    }

    /// Writes a file of pages of these documents.
    ///
    /// - Throws: ``MediaError``; ``StorageError``; `DocumentStore.Gone` if one of them has another file by now.
    func write(
        _ pages: [ComposedPage],
        of documents: [Document],
        title: String,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> StagedFile {
        var files: [DocumentFile] = []
        for document in documents { files.append(try await store.file(of: document)) }
        defer { withExtendedLifetime(files) {} }
        return try await write(pages, of: files.map(\.url), title: title, progress)
    }

    /// Inserts the pages of a file into a document.
    ///
    /// - Parameters:
    ///   - new: the pages of the file.
    ///   - position: of the first of them in the document, from 0.
    ///   - maximumPages: the most pages of a document.
    /// - Returns: the new file and the pages of the document.
    /// - Throws: ``MediaError``; ``StorageError``; `DocumentStore.Gone` if the document has another file by now.
    func insert(
        _ new: [DocumentPage],
        of file: URL,
        into document: Document,
        at position: Int,
        maximumPages: Int,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> (file: StagedFile, pages: [DocumentPage]) {
        guard document.pages.count + new.count <= maximumPages else {
            throw MediaError.tooManyPages(limit: maximumPages)
        }
        var sources = document.pages.indices.map { ComposedPage(page: $0 + 1) }
        sources.insert(contentsOf: new.indices.map { ComposedPage(source: 1, page: $0 + 1) }, at: position)
        var pages = document.pages
        pages.insert(contentsOf: new, at: position)
        let old = try await store.file(of: document)
        defer { withExtendedLifetime(old) {} }
        return (try await write(sources, of: [old.url, file], title: document.name, progress), pages)
    }
}
