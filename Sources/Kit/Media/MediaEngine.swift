package import Foundation
package import Logging

/// Work on pictures and documents. The server has one engine, made by the composition root.
package struct MediaEngine: Sendable {
    /// The programs that were found.
    package let tools: MediaTools
    /// The limits of the work.
    package let limits: MediaLimits
    /// Scales pictures.
    package let pictures: PictureScaler
    /// Draws pages of PDFs.
    package let pages: PagePictures
    /// Makes and changes PDFs.
    package let documents: PDFTool
    /// Converts office files to PDF.
    package let office: OfficeConverter
    private let bench: ToolRunner

    /// Number of programs that run, and of jobs that wait for another to end.
    package var load: (running: Int, waiting: Int) {
        get async { await bench.load }
    }

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - tools: the programs; a missing one is an error of the jobs that need it.
    ///   - limits: the limits of the work.
    ///   - folder: the directory for those of jobs, on the file system of the results. No other process may use it:
    ///     directories of jobs that an earlier run has left there are removed.
    ///   - logger: receives the causes of failures that are not in the input.
    /// - Throws: Foundation's error if they cannot be removed.
    package init(
        tools: MediaTools,
        limits: MediaLimits = MediaLimits(),
        folder: URL,
        logger: Logger = Logger(label: "media")
    ) throws {
        self.tools = tools
        self.limits = limits
        let root = folder.absoluteURL.path
        try JobDirectory.removeLeftovers(below: root)
        let bench = ToolRunner(tools: tools, limits: limits, root: root, logger: logger)
        self.bench = bench
        pictures = PictureScaler(bench: bench)
        pages = PagePictures(bench: bench)
        documents = PDFTool(bench: bench)
        office = OfficeConverter(bench: bench)
    }
}
