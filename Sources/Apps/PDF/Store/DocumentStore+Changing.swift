import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage

// Changes of a document.
extension DocumentStore {
    /// The effect of a change of pages on the quota and on earlier versions.
    enum Effect: Sendable {
        case change
        /// The quota must hold.
        case addition
        /// It cannot be undone, nor anything before it: no earlier version stays, also not in the database's file.
        case erasure
    }

    /// Replaces the file and the pages of a document, and postpones the end of a draft.
    ///
    /// - Throws: ``Gone`` if the document has changed since it was read; 507 `quota-exceeded`. The new file is removed
    ///   then.
    func replace(
        _ document: Document,
        file: Blob,
        pages: [DocumentPage],
        draftUntil: Date,
        effect: Effect,
        _ history: History
    ) async throws -> Changed {
        let profile = history.profile
        defer { changes[profile].bump() }
        let blobs = users.database.blobs
        let (scope, deletion) = (Self.scope(profile), effect == .erasure ? UserDatabase.Deletion.permanent : .nothing)
        return try await users.write(scope: scope, deleting: deletion, contents: [file]) { db in
            try Self.check(document, db)
            var changed = document
            changed.version += 1
            changed.blob = file
            changed.pages = pages
            if document.isDraft { changed.draftUntil = draftUntil.wholeMilliseconds }
            try blobs.insert(file, in: db)
            try effect == .erasure ? history.end(of: document, db) : history.add(document, db)
            let quota = effect == .addition ? history.quota : .unlimited
            try quota.holding({ try Self.usage(of: profile, db) }) { try Self.update(changed, db) }
            try Self.replace(document.pages, by: pages, of: document.sequence, db)
            try history.reduce(db)
            return try Self.changed(changed, profile: profile, db)
        }
    }

    /// Checks that a document has not changed since it was read.
    static func check(_ document: Document, _ db: Database) throws {
        let sql = "SELECT 1 FROM pdf_document WHERE sequence = ? AND version = ? AND blob_id = ? AND trashed IS NULL"
        let select = try db.cachedStatement(sql: sql)
        let arguments: StatementArguments = [document.sequence, document.version, document.blob.id]
        guard try Int.fetchOne(select, arguments: arguments) != nil else { throw Gone() }
    }

    /// Counts a change of a document.
    static func changed(_ document: Document, profile: String, _ db: Database) throws -> Changed {
        let revision = document.isDraft ? nil : try nextRevision(profile, db)
        var document = document
        document.canUndo = try hasVersion(of: document.sequence, db)
        return Changed(document: document, revision: revision, usage: try usage(of: profile, db))
    }

    /// Saves a draft, renames a document, or both.
    ///
    /// - Parameter file: the file of the document under its new name; nil if the file stays.
    /// - Returns: the document after the change.
    /// - Throws: ``Gone`` if the document has changed since it was read. The new file is removed then.
    func save(_ document: Document, name: String?, file: Blob?, isSaved: Bool, _ history: History) async throws
        -> Changed
    {
        let profile = history.profile
        defer { changes[profile].bump() }
        let blobs = users.database.blobs
        return try await users.write(scope: Self.scope(profile), contents: file.map { [$0] } ?? []) { db in
            try Self.check(document, db)
            if let end = document.draftUntil, end <= history.now { throw Gone() }
            var changed = document
            if let name { changed.name = name }
            if isSaved { changed.draftUntil = nil }
            if let file {
                changed.blob = file
                try blobs.insert(file, in: db)
                // The first name is no change that is undone, unless it is between others.
                let isFirstName = isSaved && document.isDraft
                if try !isFirstName || Self.hasVersion(of: document.sequence, db) { try history.add(document, db) }
            }
            guard changed != document else {
                return Changed(document: document, usage: try Self.usage(of: profile, db))
            }
            changed.version += 1
            try Self.changeName(of: document, to: changed, profile: profile, db)
            try Self.update(changed, db)
            try history.reduce(db)
            return try Self.changed(changed, profile: profile, db)
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
    ///   - preconditions: the conditions for its version.
    /// - Returns: the deleted document, and the revision of the list if that changed; nil if there was none.
    /// - Throws: 412 `precondition-failed`.
    func delete(_ id: String, toTrash: Bool, preconditions: WritePreconditions, profile: String, at now: Date)
        async throws -> Changed?
    {
        guard DocumentIdentity.isOne(id) else { return nil }
        defer { changes[profile].bump() }
        return try await users.write(scope: Self.scope(profile), deleting: .permanent) { db in
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
            return try Self.changed(document, profile: profile, db)
        }
    }
}
