import Database
import Foundation
import GRDB
import ResponseStore

/// Times in the tables: whole milliseconds since 1970-01-01 UTC.
enum Instant {
    static func stored(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1000 + 0.01).rounded(.down)) }
    static func read(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension Document {
    init(row: Row, pages: [DocumentPage]) {
        self.init(
            sequence: row["sequence"],
            id: row["id"],
            version: row["version"],
            name: row["name"],
            created: Instant.read(row["created"]),
            draftUntil: (row["draft_until"] as Int64?).map(Instant.read),
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
