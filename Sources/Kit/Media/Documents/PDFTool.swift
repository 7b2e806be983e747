public import Foundation

/// Makes and changes PDFs, by one `larder-pdf-worker` a job. The server itself reads no byte of a PDF.
///
/// Each method that writes puts its result on the disk and renames it to the destination, whose folder must exist; what
/// was there is replaced, and where it throws, nothing has changed there. Results are deterministic: the same input
/// gives the same bytes.
public struct PDFTool: Sendable {
    /// Told how far a job is; on any thread.
    public typealias Progress = @Sendable (JobProgress) -> Void

    let bench: ToolRunner

    /// What is in a document; the check before one is taken in.
    ///
    /// - Throws: ``MediaError``: `unsupported` where it does not begin as a PDF does, `encrypted`, `damaged`,
    ///   `tooManyPages`, `tooLarge`, `timedOut`, `toolMissing`, `overloaded`, `crashed`, `failed`.
    public func inspect(_ file: URL) async throws -> PDFDocumentSummary {
        try check(file)
        return try await bench.withFolder { folder in
            let input = try folder.link(file, as: "in.pdf")
            return try await work(
                .inspect(.init(file: input, maximumPages: bench.limits.pdfPages)),
                in: folder,
                progress: nil
            )
        }
    }

    /// A document of these pages, in this order: the base of everything below. What belongs to no page is left behind:
    /// outlines, forms' fields, attachments, scripts, layers of other sources than the first that has some; the title
    /// of the first source is kept unless another one is given.
    ///
    /// - Throws: what ``inspect(_:)`` throws, `noSuchPage` too; where there are several sources, as
    ///   ``MediaError/OfInput``.
    public func compose(
        _ pages: [ComposedPage]?,
        of sources: [URL],
        title: String? = nil,
        to destination: URL,
        progress: Progress? = nil
    ) async throws -> PDFDocumentSummary {
        for (index, source) in sources.enumerated() { try ofInput(index, of: sources.count) { try check(source) } }
        if let pages, pages.count > bench.limits.pdfPages {
            throw MediaError.tooManyPages(limit: bench.limits.pdfPages)
        }
        return try await bench.withFolder { folder in
            let inputs = try sources.enumerated().map { try folder.link($1, as: "in\($0).pdf") }
            let output = folder.path("out.pdf")
            let job = PDFJob.Compose(
                sources: inputs,
                pages: pages,
                title: title,
                output: output,
                maximumPages: bench.limits.pdfPages
            )
            let summary = try await work(.compose(job), in: folder, inputs: sources.count, progress: progress)
            try FinishedFile.move(output, to: destination)
            return summary
        }
    }

    /// A clean copy of a document from elsewhere.
    public func importDocument(_ file: URL, title: String? = nil, to destination: URL, progress: Progress? = nil)
        async throws -> PDFDocumentSummary
    {
        try await compose(nil, of: [file], title: title, to: destination, progress: progress)
    }

    /// All pages of all documents, one document after the other.
    public func merge(_ files: [URL], title: String? = nil, to destination: URL, progress: Progress? = nil) async throws
        -> PDFDocumentSummary
    {
        try await compose(nil, of: files, title: title, to: destination, progress: progress)
    }

    /// Some pages of a document (numbers from 1), in any order: deletes, extracts and reorders.
    public func keep(_ pages: [Int], of file: URL, title: String? = nil, to destination: URL, progress: Progress? = nil)
        async throws -> PDFDocumentSummary
    {
        try await compose(
            pages.map { ComposedPage(page: $0) },
            of: [file],
            title: title,
            to: destination,
            progress: progress
        )
    }

    /// A document whose first bytes and size are acceptable; no more is looked at here.
    func check(_ file: URL) throws {
        let source = try FileBytes(file)
        guard source.count <= bench.limits.pdfBytes else {
            throw MediaError.tooLarge(.bytes(limit: bench.limits.pdfBytes))
        }
        // ISO 32000-1 7.5.2; a signature elsewhere, which some readers accept, would let a file be two things at once.
        guard try source.bytes(0..<5) == Array("%PDF-".utf8) else {
            throw MediaError.unsupported("a file that does not begin as a PDF does")
        }
    }
}
