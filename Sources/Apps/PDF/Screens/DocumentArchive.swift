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

    let store: DocumentStore

    /// Adds the files.
    ///
    /// - Returns: the number of documents.
    /// - Throws: `StorageError`, also if a file is missing; `EncodingError`.
    @Sendable func add(_ owner: UserData.Owner, to archive: ZipArchive) throws -> [String: Int]? {
        let records = try store.savedDocuments(profile: owner.profile).map { document, pageCount in
            let path = try archive.add(
                document.blob,
                in: "documents",
                name: document.name,
                ending: "pdf",
                modified: document.created
            )
            return Index.Record(
                id: document.id,
                name: document.name,
                file: path,
                createdAt: document.created,
                size: document.blob.length,
                pageCount: pageCount
            )
        }
        try archive.add(json: Index(documents: records), as: "documents/documents.json")
        return ["documents": records.count]
    }
}
