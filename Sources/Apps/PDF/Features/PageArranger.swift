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
    /// - Throws: ``MediaError``; ``StorageError``.
    func write(_ pages: [ComposedPage], of files: [URL], _ progress: @escaping DocumentJobs.Progress) async throws
        -> Blob
    {
        let output = scratch.place(".pdf")
        _ = try await engine.compose(pages, files, URL(filePath: output.path)) { progress($0.fraction) }
        return try store.database.blobs.adopt(output)
    }

    /// Writes a file of pages of these documents.
    ///
    /// - Throws: ``MediaError``; ``StorageError``.
    func write(_ pages: [ComposedPage], of documents: [Document], _ progress: @escaping DocumentJobs.Progress)
        async throws -> Blob
    {
        try await write(pages, of: documents.map { store.file(of: $0) }, progress)
    }
}
