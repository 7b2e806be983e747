import Foundation
import Screens
import Storage

/// The saved documents of a profile as files of an archive: PDFs under their names, and an index of them.
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

    /// Adds the documents of a server by itself, in the read transaction of the archive.
    ///
    /// - Returns: their number.
    /// - Throws: `StorageError`, `EncodingError`.
    static func add(_ store: DocumentStore, of profile: String, to archive: ZipArchive) throws -> [String: Int] {
        var files = DocumentArchive()
        for (document, pageCount) in try store.savedDocuments(profile: profile) {
            let path = try archive.add(
                document.blob,
                in: "documents",
                name: document.name,
                ending: "pdf",
                modified: document.created
            )
            files.append(document, pageCount: pageCount, file: path)
        }
        return try files.end(in: archive)
    }

    /// Adds the documents of one of several servers. Files that it lacks are read when the archive is sent.
    ///
    /// - Returns: their number.
    /// - Throws: `StorageError`, `SharedStoreError`, `EncodingError`.
    static func add(sharedBy store: DocumentStore, of profile: String, to archive: ZipArchive) async throws
        -> [String: Int]
    {
        var files = DocumentArchive()
        for (document, pageCount) in try store.savedDocuments(profile: profile) {
            let content: FileContent
            do {
                content = try await store.content(of: document)
            } catch StorageError.blobUnavailable {
                // It was deleted or changed meanwhile; otherwise its file is damaged.
                guard try store.names(document) else { continue }
                throw StorageError.blobUnavailable(document.blob.id)
            }
            let path = archive.add(
                content,
                in: "documents",
                name: document.name,
                ending: "pdf",
                modified: document.created
            )
            files.append(document, pageCount: pageCount, file: path)
        }
        return try files.end(in: archive)
    }

    private mutating func append(_ document: Document, pageCount: Int, file path: String) {
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

    private func end(in archive: ZipArchive) throws -> [String: Int] {
        try archive.add(json: Index(documents: records), as: "documents/documents.json")
        return ["documents": records.count]
    }
}
