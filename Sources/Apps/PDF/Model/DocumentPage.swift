/// A page of a document.
struct DocumentPage: Sendable, Equatable {
    /// What is on it.
    enum Kind: String, Sendable, Encodable {
        /// A photo.
        case image
        /// Typeset text.
        case text
        /// A page of an imported PDF.
        case imported
    }

    /// Opaque identity within the document.
    var id: String
    var kind: Kind
    /// Width before rotation, in points of 1/72 inch.
    var width: Double
    /// Height before rotation, in points.
    var height: Double
    /// Degrees clockwise: 0, 90, 180 or 270.
    var rotation: Int
    /// Identity of what is on the page, kept when the page is copied. Pages of the same content and
    /// rotation look alike.
    var content: String

    /// The size after rotation, in points.
    var shownSize: (width: Double, height: Double) { rotation % 180 == 0 ? (width, height) : (height, width) }

    /// Returns the page rotated clockwise by a multiple of 90°.
    func turned(by degrees: Int) -> DocumentPage {
        var page = self
        page.rotation = (((rotation + degrees) % 360) + 360) % 360
        return page
    }

    /// Returns the same page for another document: the same content under a new id.
    func copy() -> DocumentPage {
        var page = self
        page.id = DocumentIdentity.random()
        return page
    }
}
