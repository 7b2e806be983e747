public import Foundation

/// Work on pictures and documents: one value for the whole server, made where everything is put together.
public struct MediaEngine: Sendable {
    /// The programs that were found.
    public let tools: MediaTools
    /// What bounds the work.
    public let limits: MediaLimits
    /// Makes small pictures of large ones.
    public let pictures: PictureScaler
    /// Draws pages of PDFs.
    public let pages: PagePictures
    /// Makes and changes PDFs.
    public let documents: PDFTool
    /// Turns office files into PDFs.
    public let office: OfficeConverter

    /// - Parameters:
    ///   - tools: the programs; those that are missing are missed when they are needed.
    ///   - limits: what bounds the work.
    ///   - folder: where jobs have their folders; best on the file system where results go. What an earlier Larder left
    ///     there is removed, so that no other
    ///     process may use it.
    /// - Throws: where leftovers cannot be removed.
    public init(tools: MediaTools, limits: MediaLimits = MediaLimits(), folder: URL) throws {
        self.tools = tools
        self.limits = limits
        let root = folder.absoluteURL.path
        try JobDirectory.removeLeftovers(below: root)
        let bench = ToolRunner(tools: tools, limits: limits, root: root)
        pictures = PictureScaler(bench: bench)
        pages = PagePictures(bench: bench)
        documents = PDFTool(bench: bench)
        office = OfficeConverter(bench: bench)
    }
}
