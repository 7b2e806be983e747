import Concurrency
import Database
import Foundation

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
    /// The file.
    var blob: Blob
    var pages: [DocumentPage]

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
