import Database
import Foundation
import GRDB

extension Date {
    /// The instant as the tables store it, so that a new document equals the one that is read later.
    var wholeMilliseconds: Date { Date(millisecondsSince1970: millisecondsSince1970) }
}

extension Document {
    init(row: Row, pages: [DocumentPage]) throws {
        try self.init(
            sequence: row.value("sequence"),
            id: row.value("id"),
            version: row.value("version"),
            name: row.value("name"),
            created: row.date("created"),
            draftUntil: row.date("draft_until"),
            blob: Blob(id: row.value("blob_id"), length: row.size("length")),
            pages: pages
        )
    }
}

extension DocumentPage: FetchableRecord {
    init(row: Row) throws {
        try self.init(
            id: row.value("id"),
            kind: row.value("kind", Kind.init(rawValue:)),
            width: row.value("width"),
            height: row.value("height"),
            rotation: row.value("rotation") { (0..<360).contains($0) ? $0 : nil },
            content: row.value("content")
        )
    }
}
