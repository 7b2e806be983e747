package import Foundation
package import Logging
@_exported public import MediaFormats

// Apps that use Media need these types; they are a module of their own, because the worker links it without the server.

/// Works on pictures and documents. The server has one engine, which the composition root creates.
package struct MediaEngine: Sendable {
    /// The programs that were found.
    package let tools: MediaTools
    package let limits: MediaLimits
    package let pictures: PictureScaler
    package let pages: PagePictures
    package let documents: PDFTool
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
    ///   - folder: the parent of the jobs' directories, on the file system of the results. No other process may use
    ///     it: directories that an earlier run has left there are removed.
    ///   - logger: receives the causes of failures that are not in the input.
    /// - Throws: `CocoaError` if a leftover directory cannot be removed.
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
