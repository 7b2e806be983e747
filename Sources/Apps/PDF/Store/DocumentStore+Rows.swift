import Database
import Foundation
import GRDB

extension Date {
    /// The instant as the tables store it, so that a new document equals the one that is read later.
    var wholeMilliseconds: Date { Date(millisecondsSince1970: millisecondsSince1970) }
}

extension Document {
    init(row: Row, pages: [DocumentPage]) {
        self.init(
            sequence: row["sequence"],
            id: row["id"],
            version: row["version"],
            name: row["name"],
            created: Date(millisecondsSince1970: row["created"]),
            draftUntil: (row["draft_until"] as Int64?).map(Date.init(millisecondsSince1970:)),
            blob: Blob(id: row["blob_id"], length: row["length"]),
            pages: pages
        )
    }
}

extension DocumentPage {
    init(row: Row) throws {
        guard let kind = Kind(rawValue: row["kind"]) else {
            throw StorageError.damagedDatabase(path: "pdf_page", detail: "a page of an unknown kind")
        }
        self.init(
            id: row["id"],
            kind: kind,
            width: row["width"],
            height: row["height"],
            rotation: row["rotation"],
            content: row["content"]
        )
    }
}
