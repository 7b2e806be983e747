package import AppInterface
import Database
import Foundation
import GRDB
import Journal
import SharedStore
import TextSearch

extension PDFApp {
    /// The tables that are copied from one store to the other. The files of documents are copied with their rows; the
    /// pictures of pages are made again.
    package static let userTables: [UserTable] = [
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

/// A document with its file while it is copied from one store to the other.
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
    func insertContent() throws -> String { try copy.insertContent(try blob(), in: SharedDocuments.contents) }

    /// Writes the content to the server's own database.
    func insertBlob() throws -> Blob {
        try copy.insertBlob(try content(), length: length, from: SharedDocuments.contents)
    }

    /// Compares file and content.
    func isEqual() throws -> Bool { try copy.isEqual(try blob(), try content(), in: SharedDocuments.contents) }

    /// The file of the server's own database.
    private func blob() throws -> Blob {
        let sql = "SELECT blob_id FROM pdf_document WHERE sequence = ?"
        guard let id = try BlobID.fetchOne(copy.db, sql: sql, arguments: [sequence]) else {
            throw DocumentStore.Gone()
        }
        return Blob(id: id, length: length)
    }

    /// The content of the shared store.
    private func content() throws -> String {
        let sql = "SELECT content FROM pdf_document WHERE sequence = $1"
        guard let id: String = try copy.transaction.rows(sql, [sequence]).first?.value("content") else {
            throw DocumentStore.Gone()
        }
        return id
    }
}
