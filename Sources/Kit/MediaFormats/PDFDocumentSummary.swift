/// The contents of a PDF.
package struct PDFDocumentSummary: Codable, Sendable, Equatable {
    package var pages: [PDFPage]
    /// Its title, if it has one that is not empty.
    package var title: String?
    /// Whether it was encrypted with an empty user password. Such a document can be read without a password, and
    /// Larder's results are not encrypted.
    package var wasEncrypted: Bool
    /// Characters of the text that no font has, each once, in the order of their first appearance; at most 100. They
    /// are left out of the pages.
    package var missingGlyphs: [String]
    package var notices: [InputNotice]

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

package struct PDFPage: Codable, Sendable, Equatable {
    /// Width in points (1/72 inch) after rotation.
    package var width: Double
    /// Height in points after rotation.
    package var height: Double
    /// Its rotation in degrees clockwise: 0, 90, 180 or 270.
    package var rotation: Int

    package init(width: Double, height: Double, rotation: Int) {
        self.width = width
        self.height = height
        self.rotation = rotation
    }
}

/// Something about an input that its user should know, though the job was done.
package struct InputNotice: Codable, Sendable, Equatable {
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// Only the first of several pictures is a page: an animation or a burst.
        case firstPictureOnly = "first-picture-only"
        /// The PDF restricted printing or changes by an owner password (ISO 32000-1 7.6.3); the result does not.
        case restrictionsRemoved = "restrictions-removed"
        /// Readers draw fields of its form by themselves, from their values; here they are drawn by Larder.
        case fieldsDrawn = "fields-drawn"
        /// The PDF has bookmarks, which the result has not.
        case bookmarksRemoved = "bookmarks-removed"
        /// The PDF names its pages, such as i, ii, iii, which the result does not.
        case pageLabelsRemoved = "page-labels-removed"
        /// The PDF has links to its own pages, or others that are no web addresses, which the result has not.
        case linksRemoved = "links-removed"
        /// The PDF has a form, which cannot be filled in any more.
        case fieldsRemoved = "fields-removed"
        /// The PDF has sounds, films or models on its pages, which the result has not.
        case multimediaRemoved = "multimedia-removed"
        /// The PDF has files attached, which the result has not.
        case attachmentsRemoved = "attachments-removed"
        /// The PDF is signed; the result is not, though it looks so.
        case signaturesRemoved = "signatures-removed"
    }

    /// Position of the input, from 0.
    package var input: Int
    package var kind: Kind

    package init(input: Int, kind: Kind) {
        self.input = input
        self.kind = kind
    }
}

package struct JobProgress: Sendable, Equatable {
    /// Completed steps.
    package var done: Int
    /// All steps.
    package var total: Int

    package init(done: Int, total: Int) {
        self.done = done
        self.total = total
    }
}

/// How a PDF is recognised (ISO 32000-1 7.5.2). As other readers do, Larder accepts other bytes before the signature
/// (ISO 32000-1 annex H.3 note 13); a file that begins as a picture is a picture.
package enum PDFSignature {
    /// The first bytes of every PDF.
    package static let bytes = Array("%PDF-".utf8)
    package static let mediaType = "application/pdf"
    /// The signature begins within this many bytes.
    package static let searchedLength = 1024

    /// Whether the beginning of a file has the signature.
    ///
    /// - Parameter head: at least ``searchedLength`` bytes and the length of the signature, or the whole file.
    package static func isIn(_ head: [UInt8]) -> Bool {
        let last = min(head.count - bytes.count, searchedLength - 1)
        guard last >= 0 else { return false }
        return (0...last).contains { head[$0] == bytes[0] && head[$0...].starts(with: bytes) }
    }
}
