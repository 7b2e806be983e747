import Database
import Foundation
import Freshness
import GRDB
import TextSearch

extension DocumentStore {
    /// Saves a draft, renames a document, or both.
    ///
    /// - Parameter blob: the file of the document under its new name; nil if the file stays.
    /// - Returns: the document after the change and the new revision of the list if that changed; nil if there is no
    ///   document.
    /// - Throws: what the database throws; the new file is removed then, and if there is no document.
    func save(_ id: String, name: String?, blob: Blob? = nil, isSaved: Bool, profile: String, at now: Date)
        async throws -> Changed?
    {
        defer { changes[profile].bump() }
        let blobs = database.blobs
        let changed: Changed? = try await keepingOrDiscarding(blob.map { [$0] } ?? []) { db in
            guard var document = try Self.document(id, profile: profile, at: now, db) else { return nil }
            let before = document
            if let name { document.name = name }
            if isSaved { document.draftUntil = nil }
            if let blob {
                document.blob = blob
                try blobs.insert(blob, in: db)
            }
            guard document != before else { return (document, nil) }
            document.version += 1
            try Self.changeName(of: before, to: document, profile: profile, db)
            try Self.update(document, db)
            return (document, document.isDraft ? nil : try Self.nextRevision(profile, db))
        }
        if changed == nil, let blob { blobs.discard(blob) }
        return changed
    }

    /// Writes the row of a document, other than its pages.
    static func update(_ document: Document, _ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE pdf_document SET version = ?, name = ?, folded = ?, blob_id = ?, length = ?, draft_until = ?
                WHERE sequence = ?
                """,
            arguments: [
                document.version, document.name, document.name.partFolded, document.blob.id, document.blob.length,
                document.draftUntil.map(\.millisecondsSince1970), document.sequence,
            ]
        )
    }

    /// Deletes a document. Documents that were made of it stay.
    ///
    /// - Parameter toTrash: whether a saved document is moved to the trash, not deleted permanently with its file.
    /// - Returns: the deleted document and the new revision of the list if that changed; nil if there was none.
    func delete(_ id: String, toTrash: Bool = false, profile: String, at now: Date) async throws -> Changed? {
        guard DocumentIdentity.isOne(id) else { return nil }
        defer { changes[profile].bump() }
        return try await database.writeErasing { db in
            guard let document = try Self.document(id, profile: profile, at: now, db) else { return nil }
            try Self.changeName(of: document, to: nil, profile: profile, db)
            if toTrash, !document.isDraft {
                try db.execute(
                    sql: Self.moveToTrash,
                    arguments: [now.millisecondsSince1970, document.sequence]
                )
            } else {
                try Self.purge(document.sequence, db)
            }
            return (document, document.isDraft ? nil : try Self.nextRevision(profile, db))
        }
    }
}
