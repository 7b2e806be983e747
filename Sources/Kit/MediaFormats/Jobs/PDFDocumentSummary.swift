/// What is in a PDF.
public struct PDFDocumentSummary: Codable, Sendable, Equatable {
    /// Its pages, in order.
    public var pages: [PDFPage]
    /// Its title, if it has one that is not empty.
    public var title: String?
    /// Whether it was encrypted with an empty user password. Such a document can be read without a password, and what
    /// Larder writes is not encrypted.
    public var wasEncrypted: Bool
    /// Characters of the text that no font has, each once, in the order of their first appearance; at most 100. They
    /// are left out of the pages.
    public var missingGlyphs: [String]
    /// What the user should know of the inputs.
    public var notices: [InputNotice]

    /// Creates a summary.
    public init(
        pages: [PDFPage],
        title: String? = nil,
        wasEncrypted: Bool = false,
        missingGlyphs: [String] = [],
        notices: [InputNotice] = []
    ) {
        self.pages = pages
        self.title = title
        self.wasEncrypted = wasEncrypted
        self.missingGlyphs = missingGlyphs
        self.notices = notices
    }
}

/// A page of a PDF.
public struct PDFPage: Codable, Sendable, Equatable {
    /// Width in points (1/72 inch) as it is shown, after rotation.
    public var width: Double
    /// Height in points as it is shown, after rotation.
    public var height: Double
    /// Its rotation in degrees clockwise: 0, 90, 180 or 270.
    public var rotation: Int

    /// Creates the description of a page.
    public init(width: Double, height: Double, rotation: Int) {
        self.width = width
        self.height = height
        self.rotation = rotation
    }
}
