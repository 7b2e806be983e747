import Foundation
import Screens
import Storage

/// The saved documents of a profile as files of an archive: PDFs under their names, and an index of them.
enum DocumentArchive {
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

    /// Adds the documents, in the read transaction of the archive.
    ///
    /// - Returns: their number.
    /// - Throws: `StorageError`, `EncodingError`.
    static func add(_ store: DocumentStore, of profile: String, to archive: ZipArchive) throws -> [String: Int] {
        let records = try store.savedDocuments(profile: profile).map { document, pageCount in
            let (name, created) = (document.name, document.created)
            return Index.Record(
                id: document.id,
                name: name,
                file: try archive.add(document.blob, in: "documents", name: name, ending: "pdf", modified: created),
                createdAt: created,
                size: document.blob.length,
                pageCount: pageCount
            )
        }
        try archive.add(json: Index(documents: records), as: "documents/documents.json")
        return ["documents": records.count]
    }
}
