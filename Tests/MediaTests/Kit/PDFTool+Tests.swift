import Foundation
import Synchronization

@testable import Media

/// Keeps the progress reports of a job.
final class ProgressLog: Sendable {
    private let reports = Mutex<[JobProgress]>([])

    var all: [JobProgress] { reports.withLock { $0 } }

    func add(_ progress: JobProgress) { reports.withLock { $0.append(progress) } }
}

extension PDFTool {
    /// Makes a clean copy of a client's document.
    func importDocument(_ file: URL, title: String? = nil, to destination: URL, progress: Progress? = nil) async throws
        -> PDFDocumentSummary
    {
        try await compose(nil, of: [file], title: title, isImport: true, to: destination, progress: progress)
    }

    /// Makes a document of all pages of all documents.
    func merge(_ files: [URL], title: String? = nil, to destination: URL, progress: Progress? = nil) async throws
        -> PDFDocumentSummary
    {
        try await compose(nil, of: files, title: title, to: destination, progress: progress)
    }

    /// Makes a document of some pages of another, by their numbers from 1.
    func keep(_ pages: [Int], of file: URL, title: String? = nil, to destination: URL, progress: Progress? = nil)
        async throws -> PDFDocumentSummary
    {
        let pages = pages.map { ComposedPage(page: $0) }
        return try await compose(pages, of: [file], title: title, to: destination, progress: progress)
    }
}
