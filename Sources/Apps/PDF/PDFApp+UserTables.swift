public import AppInterface
import Database
import Foundation
import GRDB
import SharedStore
import TextSearch

extension PDFApp {
    /// The tables that a copy from one store to the other has. The files of documents are copied with their rows, the
    /// pictures of pages are made anew.
    public static let userTables: [UserTable] = [
        UserTable(
            "pdf_document",
            key: ["sequence"],
            [
                "sequence": .integer, "id": .text, "profile": .text, "version": .integer, "name": .text,
                "folded": .text, "created": .integer, "draft_until": .integer, "trashed": .integer,
                "length": .integer, "page_count": .integer,
            ],
            identity: "sequence",
            shared: UserTable.FurtherColumns(["terms", "content"]) { row, copy in
                let isListed = row.isNull("draft_until") && row.isNull("trashed")
                let terms = SearchTerms.parts(of: try row.text("folded"))
                return [
                    isListed ? SharedDocuments.owned(terms, by: try row.text("profile")) : [],
                    try DocumentCopy(row, copy).insertContent(),
                ]
            },
            local: UserTable.FurtherColumns(["blob_id"]) { row, copy in
                [try DocumentCopy(row, copy).insertBlob().id]
            },
            localCompletion: DocumentStore.indexAll,
            isEqual: { row, copy in try DocumentCopy(row, copy).isEqual() }
        ),
        UserTable(
            "pdf_page",
            key: ["document", "number"],
            [
                "document": .integer, "number": .integer, "id": .text, "kind": .text, "width": .real,
                "height": .real, "rotation": .integer, "content": .text,
            ]
        ),
        // After the documents: triggers count them.
        UserTable(
            "pdf_profile",
            key: ["profile"],
            [
                "profile": .text, "seen": .boolean, "revision": .integer, "saved": .integer, "trashed": .integer,
                "bytes": .integer, "draft_bytes": .integer, "trash_bytes": .integer,
            ],
            rows: .corrected
        ),
    ]
}

/// A document with its file, on the way from one store to the other.
private struct DocumentCopy {
    let sequence: Int64
    let length: Int
    let copy: UserCopy

    init(_ row: UserRow, _ copy: UserCopy) throws {
        sequence = try row.integer("sequence")
        length = Int(try row.integer("length"))
        self.copy = copy
    }

    /// Writes the file to the shared store.
    ///
    /// - Returns: the id of the content.
    func insertContent() throws -> String {
        let source = try reader()
        let id = source.blob.id.description
        let insert = "INSERT INTO pdf_content (id, length, unused) VALUES ($1, $2, NULL)"
        try copy.transaction.execute(insert, [id, length])
        for (number, range) in parts {
            let insert = "INSERT INTO pdf_content_part (content, number, bytes) VALUES ($1, $2, $3)"
            try copy.transaction.execute(insert, [id, number, try source.read(range)])
        }
        return id
    }

    /// Writes the content to the server's own database.
    func insertBlob() throws -> Blob {
        let writer = try copy.blobs.writer()
        for (number, _) in parts { try writer.append(try part(number)) }
        let blob = try writer.finish(expectedLength: length)
        try copy.blobs.insert(blob, in: copy.db)
        return blob
    }

    /// Compares file and content.
    func isEqual() throws -> Bool {
        let source = try reader()
        return try parts.allSatisfy { number, range in try source.read(range) == part(number) }
    }

    /// The file of the server's own database.
    private func reader() throws -> BlobReader {
        let sql = "SELECT blob_id FROM pdf_document WHERE sequence = ?"
        guard let id = try BlobID.fetchOne(copy.db, sql: sql, arguments: [sequence]) else {
            throw DocumentStore.Gone()
        }
        return try copy.blobs.reader(Blob(id: id, length: length))
    }

    /// The numbers and ranges of the parts. An empty file has one.
    private var parts: [(number: Int, range: Range<Int>)] {
        stride(from: 0, to: max(1, length), by: SharedContents.partBytes).enumerated().map { number, offset in
            (number, offset..<min(offset + SharedContents.partBytes, length))
        }
    }

    private func part(_ number: Int) throws -> Data {
        let sql = """
            SELECT bytes FROM pdf_content_part
            WHERE content = (SELECT content FROM pdf_document WHERE sequence = $1) AND number = $2
            """
        return try copy.transaction.rows(sql, [sequence, number]).first?.value("bytes") ?? Data()
    }
}
