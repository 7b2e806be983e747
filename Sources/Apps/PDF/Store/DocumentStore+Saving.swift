import Database
import Foundation
import Freshness
import GRDB

extension DocumentStore {
    /// Saves a draft, renames a document, or both.
    ///
    /// - Returns: the document after the change and the new revision of the list if that changed; nil if there is no
    ///   document.
    func save(_ id: String, name: String?, isSaved: Bool, profile: String, at now: Date) async throws
        -> Changed?
    {
        defer { changes[profile].bump() }
        return try await database.write { db in
            guard var document = try Self.document(id, profile: profile, at: now, db) else { return nil }
            let before = document
            if let name { document.name = name }
            if isSaved { document.draftUntil = nil }
            guard document != before else { return (document, nil) }
            document.version += 1
            try db.execute(
                sql: "UPDATE pdf_document SET version = ?, name = ?, draft_until = ? WHERE sequence = ?",
                arguments: [
                    document.version, document.name, document.draftUntil.map(\.millisecondsSince1970), document.sequence,
                ]
            )
            return (document, document.isDraft ? nil : try Self.nextRevision(profile, db))
        }
    }

    /// Deletes a document with its file. Documents that were made of it stay.
    ///
    /// - Returns: the deleted document and the new revision of the list if that changed; nil if there was none.
    func delete(_ id: String, profile: String, at now: Date) async throws -> Changed? {
        guard DocumentIdentity.isOne(id) else { return nil }
        defer { changes[profile].bump() }
        return try await database.writeFreeingRoom { db in
            guard let document = try Self.document(id, profile: profile, at: now, db) else { return nil }
            try db.execute(sql: "DELETE FROM pdf_document WHERE sequence = ?", arguments: [document.sequence])
            try Self.forgetThumbnails(of: document.pages, db)
            return (document, document.isDraft ? nil : try Self.nextRevision(profile, db))
        }
    }
}
