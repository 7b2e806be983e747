import Database
import Foundation
import Screens

/// The saved documents of a profile as files of an archive: PDFs under their names, and what is known of them.
struct DocumentArchive: Sendable {
    /// The documents of `documents.json`.
    private struct Index: Encodable {
        struct Record: Encodable {
            let id: String
            let name: String
            let file: String
            let createdAt: Date
            let size: Int
            let pageCount: Int
        }

        let documents: [Record]
    }

    private var records: [Index.Record] = []

    /// Adds a document whose file is in the archive.
    ///
    /// - Parameter path: that of its file.
    mutating func append(_ document: Document, pageCount: Int, file path: String) {
        records.append(
            Index.Record(
                id: document.id,
                name: document.name,
                file: path,
                createdAt: document.created,
                size: document.blob.length,
                pageCount: pageCount
            )
        )
    }

    /// Adds what is known of the documents.
    ///
    /// - Returns: the number of documents.
    /// - Throws: `StorageError`, `EncodingError`.
    func end(in archive: ZipArchive) throws -> [String: Int] {
        try archive.add(json: Index(documents: records), as: "documents/documents.json")
        return ["documents": records.count]
    }
}
