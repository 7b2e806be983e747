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

    /// Adds the documents of a server by itself, in the read transaction of the archive.
    ///
    /// - Returns: their number.
    /// - Throws: `StorageError`, `EncodingError`.
    static func add(_ store: DocumentStore, of profile: String, to archive: ZipArchive) throws -> [String: Int] {
        try add(store.savedDocuments(profile: profile), to: archive) { document in
            try archive.add(
                document.blob,
                in: "documents",
                name: document.name,
                ending: "pdf",
                modified: document.created
            )
        }
    }

    /// Adds the documents of one of several servers. Files that it lacks are read when the archive is sent.
    ///
    /// - Returns: their number.
    /// - Throws: `StorageError`, `SharedStoreError`, `EncodingError`.
    static func add(sharedBy store: DocumentStore, of profile: String, to archive: ZipArchive) async throws
        -> [String: Int]
    {
        var contents: [String: FileContent] = [:]
        let documents = try store.savedDocuments(profile: profile)
        for (document, _) in documents {
            do {
                contents[document.id] = try await store.content(of: document)
            } catch StorageError.blobUnavailable {
                // It was deleted or changed meanwhile; otherwise its file is damaged.
                guard try store.names(document) else { continue }
                throw StorageError.blobUnavailable(document.blob.id)
            }
        }
        return try add(documents, to: archive) { document in
            contents[document.id].map {
                archive.add($0, in: "documents", name: document.name, ending: "pdf", modified: document.created)
            }
        }
    }

    /// Adds documents and their index.
    ///
    /// - Parameter file: Adds the file of a document and returns its path; nil if there is none any more.
    private static func add(
        _ documents: [(document: Document, pageCount: Int)],
        to archive: ZipArchive,
        _ file: (Document) throws -> String?
    ) throws -> [String: Int] {
        let records = try documents.compactMap { document, pageCount in
            try file(document).map { path in
                Index.Record(
                    id: document.id,
                    name: document.name,
                    file: path,
                    createdAt: document.created,
                    size: document.blob.length,
                    pageCount: pageCount
                )
            }
        }
        try archive.add(json: Index(documents: records), as: "documents/documents.json")
        return ["documents": records.count]
    }
}
