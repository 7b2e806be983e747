import Foundation
import Storage

/// A document: a PDF file, and what the app knows of it beside.
struct Document: Sendable, Equatable {
    /// Its row; grows with every new document.
    var sequence: Int64
    /// Opaque identity in addresses.
    var id: String
    /// Grows with every change, from 1.
    var version: Int
    /// Name without extension, as people gave it.
    var name: String
    var created: Date
    /// When the draft goes; nil for a saved document.
    var draftUntil: Date?
    /// The file.
    var blob: Blob
    var pages: [DocumentPage]

    var isDraft: Bool { draftUntil != nil }
    var fileName: String { "\(name).pdf" }
}

/// A page of a document.
struct DocumentPage: Sendable, Equatable {
    /// What is on it.
    enum Kind: String, Sendable, Encodable {
        /// A photo.
        case image
        /// Typeset text.
        case text
        /// Whatever an imported PDF had there.
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
    /// Names what is on the page, wherever the page goes. Pages of one content and one rotation look alike.
    var content: String

    /// Its size as it is shown, in points.
    var shownSize: (width: Double, height: Double) { rotation % 180 == 0 ? (width, height) : (height, width) }

    /// The page turned by a multiple of 90°, clockwise.
    func turned(by degrees: Int) -> DocumentPage {
        var page = self
        page.rotation = (((rotation + degrees) % 360) + 360) % 360
        return page
    }
}

/// Opaque identities of documents, pages and contents.
enum DocumentIdentity {
    /// 64 random bits in hexadecimal. Nobody gains by guessing one: a profile protects nothing either.
    static func random() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Whether a text can be an identity at all; anything else is not looked up.
    static func isOne(_ text: String) -> Bool {
        text.utf8.count == 16 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
