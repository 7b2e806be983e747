import Concurrency
import Foundation
import Storage

/// A document: a PDF file with its name and its pages.
struct Document: Sendable, Equatable {
    /// The number of its row; grows with every new document.
    var sequence: Int64
    /// Opaque identity in addresses.
    var id: String
    /// Grows with every change, from 1.
    var version: Int
    /// The name without its extension.
    var name: String
    var created: Date
    /// When the draft expires; nil for a saved document.
    var draftUntil: Date?
    var blob: Blob
    var pages: [DocumentPage]
    /// Whether an earlier version is stored.
    var canUndo = false

    var isDraft: Bool { draftUntil != nil }
    var fileName: String { "\(name).pdf" }
}

/// Opaque identities of documents, pages and contents.
enum DocumentIdentity {
    /// 64 random bits in hexadecimal. Guessing one gains nothing: a profile protects nothing either.
    static func random() -> String {
        let digits = String(Randomness.number(for: "document"), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Whether a text has the form of an identity; no other text is looked up.
    static func isOne(_ text: String) -> Bool {
        text.utf8.count == 16 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

/// A page of a document.
struct DocumentPage: Codable, Sendable, Equatable {
    enum Kind: String, Sendable, Codable {
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
    /// Identity of the content of the page, kept when the page is copied. Pages of the same content and rotation look
    /// alike.
    var content: String

    /// Short, because each earlier version has all pages.
    private enum CodingKeys: String, CodingKey {
        case id = "i"
        case kind = "k"
        case width = "w"
        case height = "h"
        case rotation = "r"
        case content = "c"
    }

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
