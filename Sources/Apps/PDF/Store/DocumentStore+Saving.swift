import Database
import Foundation
import Freshness
import GRDB
import Screens
import TextSearch

extension DocumentStore {
    /// Saves a draft, renames a document, or both.
    ///
    /// - Parameter file: the file of the document under its new name; nil if the file stays.
    /// - Returns: the document after the change and the new revision of the list if that changed.
    /// - Throws: ``Gone`` if the document does not exist any more; what the database throws. The new file is removed
    ///   then.
    func save(_ document: Document, name: String?, file: StagedFile?, isSaved: Bool, profile: String, at now: Date)
        async throws -> Changed
    {
        defer { changes[profile].bump() }
        let (id, blobs) = (document.id, database.blobs)
        return try await keepingOrDiscarding(file.map { [$0] } ?? []) { db in
            guard var document = try Self.document(id, profile: profile, at: now, db) else { throw Gone() }
            let before = document
            if let name { document.name = name }
            if isSaved { document.draftUntil = nil }
            if let file {
                document.blob = file.blob
                try blobs.insert(file.blob, in: db)
            }
            guard document != before else { return (document, nil) }
            document.version += 1
            try Self.changeName(of: before, to: document, profile: profile, db)
            try Self.update(document, db)
            return (document, document.isDraft ? nil : try Self.nextRevision(profile, db))
        }
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
    /// - Parameters:
    ///   - toTrash: whether a saved document is moved to the trash, not deleted permanently with its file.
    ///   - preconditions: what its version must meet.
    /// - Returns: the deleted document and the new revision of the list if that changed; nil if there was none.
    /// - Throws: 412 `precondition-failed`; `StorageError`.
    func delete(_ id: String, toTrash: Bool, preconditions: WritePreconditions, profile: String, at now: Date)
        async throws -> Changed?
    {
        guard DocumentIdentity.isOne(id) else { return nil }
        defer { changes[profile].bump() }
        return try await database.writeErasing { db in
            guard let document = try Self.document(id, profile: profile, at: now, db) else { return nil }
            try preconditions.check(version: document.version)
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
