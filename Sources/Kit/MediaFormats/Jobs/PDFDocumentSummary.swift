/// What is in a PDF.
package struct PDFDocumentSummary: Codable, Sendable, Equatable {
    /// Its pages, in order.
    package var pages: [PDFPage]
    /// Its title, if it has one that is not empty.
    package var title: String?
    /// Whether it was encrypted with an empty user password. Such a document can be read without a password, and what
    /// Larder writes is not encrypted.
    package var wasEncrypted: Bool
    /// Characters of the text that no font has, each once, in the order of their first appearance; at most 100. They
    /// are left out of the pages.
    package var missingGlyphs: [String]
    /// What the user should know of the inputs.
    package var notices: [InputNotice]

    /// Creates a summary.
    package init(
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
package struct PDFPage: Codable, Sendable, Equatable {
    /// Width in points (1/72 inch) as it is shown, after rotation.
    package var width: Double
    /// Height in points as it is shown, after rotation.
    package var height: Double
    /// Its rotation in degrees clockwise: 0, 90, 180 or 270.
    package var rotation: Int

    /// Creates the description of a page.
    package init(width: Double, height: Double, rotation: Int) {
        self.width = width
        self.height = height
        self.rotation = rotation
    }
}
