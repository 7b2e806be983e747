package import Foundation

/// Makes and changes PDFs, by one `larder-pdf-worker` a job. The server itself reads no byte of a PDF.
///
/// Each method that writes puts its result on the disk and renames it to the destination, whose directory must exist.
/// It replaces a file there; if it throws, nothing has changed there. Results are deterministic: the same input gives
/// the same bytes.
package struct PDFTool: Sendable {
    /// Receives the progress of a job; on any thread.
    package typealias Progress = @Sendable (JobProgress) -> Void

    let bench: ToolRunner

    /// Checks a document and returns what is in it.
    ///
    /// - Throws: ``MediaError``: `unsupported` if it does not begin as a PDF does, `encrypted`, `damaged`,
    ///   `tooManyPages`, `tooLarge`, `timedOut`, `toolMissing`, `overloaded`, `crashed`, `failed`.
    package func inspect(_ file: URL) async throws -> PDFDocumentSummary {
        try await bench.withFolder { folder in
            try check(file)
            let input = try folder.link(file, as: "in.pdf")
            return try await work(
                .inspect(.init(file: input, maximumPages: bench.limits.pdfPages)),
                in: folder,
                progress: nil
            )
        }
    }

    /// Makes a document of pages of others, in this order. What belongs to no page is left out: outlines, fields of
    /// forms, attachments, scripts, and the layers of all sources but the first that has some.
    ///
    /// - Parameters:
    ///   - pages: the pages; nil for all pages of all sources.
    ///   - title: nil keeps the title of the first source.
    ///   - isImport: whether the sources are a client's: then the result is read as a whole, and refused as `damaged`
    ///     if a part of it cannot be read.
    ///   - keepsMetadata: whether photos on the pages keep their metadata: time, camera, position of the photographer.
    /// - Throws: what ``inspect(_:)`` throws, and `noSuchPage`; of several sources as ``MediaError/OfInput``.
    package func compose(
        _ pages: [ComposedPage]?,
        of sources: [URL],
        title: String? = nil,
        isImport: Bool = false,
        keepsMetadata: Bool = false,
        to destination: URL,
        progress: Progress? = nil
    ) async throws -> PDFDocumentSummary {
        if let pages, pages.count > bench.limits.pdfPages {
            throw MediaError.tooManyPages(limit: bench.limits.pdfPages)
        }
        return try await bench.withFolder { folder in
            let bytes = try sources.enumerated().reduce(0) { bytes, source in
                try bytes + check(source.element, at: source.offset, of: sources.count)
            }
            // How long a client's document takes does not follow from its size.
            let isShort = !isImport && bytes <= bench.limits.shortBytes
            let job = PDFJob.Compose(
                sources: try sources.enumerated().map { try folder.link($1, as: "in\($0).pdf") },
                pages: pages,
                title: title,
                output: folder.path("out.pdf"),
                maximumPages: bench.limits.pdfPages,
                isChecked: isImport,
                keepsMetadata: keepsMetadata
            )
            let summary = try await work(
                .compose(job),
                in: folder,
                inputs: sources.count,
                isShort: isShort,
                progress: progress
            )
            try FinishedFile.move(job.output, to: destination)
            return summary
        }
    }

    /// Makes a clean copy of a document.
    ///
    /// - Throws: What ``inspect(_:)`` throws.
    package func importDocument(_ file: URL, title: String? = nil, to destination: URL, progress: Progress? = nil)
        async throws -> PDFDocumentSummary
    {
        try await compose(nil, of: [file], title: title, isImport: true, to: destination, progress: progress)
    }

    /// Makes a document of all pages of all documents, one document after the other.
    ///
    /// - Throws: What ``inspect(_:)`` throws; of several files as ``MediaError/OfInput``.
    package func merge(_ files: [URL], title: String? = nil, to destination: URL, progress: Progress? = nil)
        async throws
        -> PDFDocumentSummary
    {
        try await compose(nil, of: files, title: title, to: destination, progress: progress)
    }

    /// Makes a document of some pages of another (numbers from 1), in any order.
    ///
    /// - Throws: What ``inspect(_:)`` throws, and `noSuchPage`.
    package func keep(
        _ pages: [Int],
        of file: URL,
        title: String? = nil,
        to destination: URL,
        progress: Progress? = nil
    )
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

    private func check(_ file: URL, at index: Int, of count: Int) throws -> Int {
        guard count > 1 else { return try check(file) }
        return try MediaError.OfInput.naming(index) { try check(file) }
    }

    /// Checks the size and the first bytes of a document, and nothing else.
    ///
    /// - Returns: its size in bytes.
    @discardableResult
    private func check(_ file: URL) throws -> Int {
        let source = try FileBytes(file)
        guard source.count <= bench.limits.pdfBytes else {
            throw MediaError.tooLarge(.bytes(limit: bench.limits.pdfBytes))
        }
        guard PDFSignature.isIn(try source.bytes(0..<(PDFSignature.searchedLength + PDFSignature.bytes.count))) else {
            throw MediaError.unsupported("a file that does not begin as a PDF does")
        }
        return source.count
    }
}
