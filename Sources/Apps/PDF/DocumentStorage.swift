import AppInterface
import Database
import Foundation
import Freshness
import Logging
import Screens

/// The store of a server's documents.
enum DocumentStorage: Sendable {
    /// In its own database.
    case local(DocumentStore)
    /// In the store that several servers share.
    case shared(SharedDocuments)

    /// - Parameters:
    ///   - shared: the store that servers share, if there is one.
    ///   - database: the server's own.
    ///   - scratch: the folder for files that programs read.
    init(_ shared: SharedStoreAccess?, _ database: LarderDatabase, _ scratch: ScratchFolder) {
        guard let shared else {
            self = .local(DocumentStore(database))
            return
        }
        self = .shared(
            SharedDocuments(
                database: shared.database,
                changes: shared.changes,
                thumbnails: ThumbnailStore(database: database),
                scratch: scratch
            )
        )
    }

    var documents: any Documents {
        switch self {
        case .local(let store): store
        case .shared(let documents): documents
        }
    }

    /// The services that remove the remains of documents that other servers have changed.
    func expiry(by retention: RetentionClock, logger: Logger) -> [ExpiryService] {
        guard case .shared(let documents) = self else { return [] }
        return [
            ExpiryService(of: "contents without a document", by: retention, logger: logger) { _ in
                try await documents.removeContents()
            },
            ExpiryService(of: "pictures of deleted pages", by: retention, logger: logger) { _ in
                try await documents.removeThumbnails()
            },
        ]
    }

    /// The saved documents of a profile for its archive, and the size of its documents.
    func userData(quota: @escaping @Sendable (_ profile: String) -> StorageQuota) -> UserData {
        let shown = { @Sendable (profile: String, stored: StorageUsage) in
            AppUsage(.documents, of: profile, stored, quota: quota(profile), trash: Trash.documents.href)
        }
        switch self {
        case .local(let store):
            return UserData { owner, archive in
                var files = DocumentArchive()
                for (document, pageCount) in try store.savedDocuments(profile: owner.profile) {
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
            } usage: { owner in
                shown(owner.profile, try store.usage(profile: owner.profile))
            }
        case .shared(let documents):
            return UserData(
                sharedAdd: { owner, archive in
                    var files = DocumentArchive()
                    for (document, pageCount) in try await documents.savedDocuments(profile: owner.profile) {
                        // One that was deleted meanwhile is left out.
                        guard let content = try await documents.contentIfPresent(of: document) else { continue }
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
                },
                usage: { owner in shown(owner.profile, try await documents.usage(profile: owner.profile)) }
            )
        }
    }
}

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

    /// Adds a document to the index.
    ///
    /// - Parameter path: the path of its file in the archive.
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

    /// Adds the index.
    ///
    /// - Returns: the number of documents.
    /// - Throws: `StorageError`, `EncodingError`.
    func end(in archive: ZipArchive) throws -> [String: Int] {
        try archive.add(json: Index(documents: records), as: "documents/documents.json")
        return ["documents": records.count]
    }
}
