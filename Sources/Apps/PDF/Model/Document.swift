import Concurrency
import Foundation
import Screens
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

/// A page of a document, in the order of the document.
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

/// The rules for the name of a document: it is the name of a file, without folders and without characters that make it
/// look like another one.
enum DocumentName {
    /// Longest name in bytes of UTF-8: with the extension it is the 255 that file systems take.
    static let longest = 251

    /// Returns a name in its stored form: without spaces around it, and without the extension, which is shown apart.
    ///
    /// - Throws: ``Problem``, 422 for a name that a file cannot have.
    static func accepted(_ text: String) throws -> String {
        var name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if name.lowercased().hasSuffix(".pdf") {
            name = String(name.dropLast(4)).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        if let (code, fault) = fault(of: name) { throw Problem.validation([.field("/name", code, .name(fault))]) }
        return name
    }

    /// Returns the fault of a name; nil if it is valid.
    static func fault(of name: String) -> (code: String, text: Text)? {
        if name.isEmpty { return ("required", .mustNotBeEmpty) }
        if name.utf8.count > longest { return ("too-long", .atMostBytes(longest)) }
        if name == "." || name == ".." { return ("invalid", .mustNotBeDots) }
        if name.unicodeScalars.contains("/") { return ("invalid", .noSlash) }
        if name.unicodeScalars.contains(where: isControl) { return ("invalid", .noControlCharacters) }
        return nil
    }

    /// Control characters, line separators, and those that change the direction of text (UAX #9 §2), which can show
    /// the end of a name in its middle.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        }
    }

    /// The names of new documents without a name, such as `Document 2026-01-05 10-00`, in the time zone and language of
    /// the user. A number distinguishes those of the same minute.
    struct Standard: Sendable {
        private let name: String

        init(at instant: Date, in zone: TimeZone?, _ language: Language) {
            let time = CivilTime(instant, in: zone).map { " " + $0.text("YYYY-MM-DD hh-mm") } ?? ""
            name = Text.documentName[language] + time
        }

        /// Returns the first of the names that is not taken, and adds it to those that are.
        func next(_ taken: inout Set<String>) -> String {
            var (found, number) = (name, 1)
            while !taken.insert(found).inserted {
                number += 1
                found = "\(name) \(number)"
            }
            return found
        }
    }

    /// Returns the name of a file without its extension; nil if a document may not have it.
    static func stem(of fileName: String?) -> String? {
        guard let fileName else { return nil }
        return try? accepted(fileName)
    }

    /// Returns two names as one that is not too long.
    static func joined(_ first: String, _ second: String) -> String {
        let half = (longest - 3) / 2
        let (firstRoom, secondRoom) = (longest - 3 - second.utf8.count, longest - 3 - first.utf8.count)
        return "\(shortened(first, to: max(half, firstRoom))) + \(shortened(second, to: max(half, secondRoom)))"
    }

    /// Returns the beginning of a name, whole characters only.
    static func shortened(_ name: String, to bytes: Int) -> String {
        guard name.utf8.count > bytes else { return name }
        var count = 0
        let kept = name.prefix { character in
            count += character.utf8.count
            return count <= bytes
        }
        return kept.trimmingCharacters(in: .whitespaces)
    }
}

/// A search of documents by name: every word must occur in the name, in any case and width, with accents or without.
struct DocumentSearch: Sendable, Equatable {
    /// Words in the form in which they are compared, at least one and at most ``WordQuery/mostWords``.
    let words: [String]
    /// The terms that a name must have (``SearchTerms/parts(of:)``).
    let terms: [String]

    /// Reads the text of a search; nil if it has no word.
    init?(_ text: String?) {
        let found = (text ?? "").partFolded.split(whereSeparator: \.isWhitespace)
        words = found.prefix(WordQuery.mostWords).map(String.init)
        if words.isEmpty { return nil }
        terms = words.map(PartQuery.init).flatMap(\.terms)
    }

    /// The words in a normal form.
    var text: String { words.joined(separator: " ") }
}
