import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage

/// Earlier versions: a document as it was before each of its last changes, with its file, so that they can be undone.
/// They fill the room of the quota that documents leave; the oldest go first.
extension DocumentStore {
    /// The versions that a change of a profile's documents makes and removes.
    struct History: Sendable {
        let profile: String
        let now: Date
        let quota: StorageQuota
        /// Whether changes can be undone.
        let isKept: Bool

        /// Stores a document as it is before a change. The file that it has then must not be without a row meanwhile.
        func add(_ document: Document, _ db: Database) throws {
            guard isKept else { return }
            let pages = String(decoding: try JSONEncoder().encode(document.pages), as: UTF8.self)
            try db.cachedStatement(sql: DocumentStore.insertVersion).execute(arguments: [
                document.sequence, document.version, profile, now.millisecondsSince1970, document.name,
                document.blob.id, document.blob.length, pages,
            ])
            try db.cachedStatement(sql: DocumentStore.removeOldest).execute(arguments: ["document": document.sequence])
        }

        /// Removes versions that take more than the room beside the documents.
        func reduce(_ db: Database) throws { try DocumentStore.reduceVersions(of: profile, to: quota, db) }
    }

    /// Takes back the last change of a document that was not undone, and postpones the end of a draft.
    ///
    /// - Parameter preconditions: the conditions for its version.
    /// - Returns: the document; nil if the profile has none of that id.
    /// - Throws: ``Problem`` 409 `nothing-to-undo`, 412 `precondition-failed`; `StorageError`, `SharedStoreError`.
    func undo(_ id: String, preconditions: WritePreconditions, draftUntil: Date, profile: String, at now: Date)
        async throws -> Changed?
    {
        guard DocumentIdentity.isOne(id) else { return nil }
        defer { changes[profile].bump() }
        return try await users.write(scope: Self.scope(profile)) { db in
            guard let document = try Self.document(id, profile: profile, at: now, db) else { return nil }
            try preconditions.check(version: document.version)
            let select = try db.cachedStatement(sql: Self.selectLastVersion)
            guard let row = try Row.fetchOne(select, arguments: [document.sequence]) else {
                throw Problem(.nothingToUndo, "No earlier version of the document is stored.")
            }
            let before = try DocumentVersion(row: row)
            var changed = document
            changed.version += 1
            (changed.name, changed.blob, changed.pages) = (before.name, before.blob, before.pages)
            if document.isDraft { changed.draftUntil = draftUntil.wholeMilliseconds }
            try Self.changeName(of: document, to: changed, profile: profile, db)
            try Self.update(changed, db)
            try Self.replace(document.pages, by: changed.pages, of: document.sequence, db)
            // The document has its file by now.
            try db.cachedStatement(sql: Self.deleteVersion).execute(arguments: [before.document, before.version])
            return try Self.changed(changed, profile: profile, db)
        }
    }

    static func hasVersion(of sequence: Int64, _ db: Database) throws -> Bool {
        let select = try db.cachedStatement(sql: "SELECT 1 FROM pdf_version WHERE document = ? LIMIT 1")
        return try Int.fetchOne(select, arguments: [sequence]) != nil
    }

    /// Removes the oldest versions of a profile that take more than the room beside its documents, no more than one
    /// transaction may.
    static func reduceVersions(of profile: String, to quota: StorageQuota, _ db: Database) throws {
        let stored = try Int.fetchOne(db.cachedStatement(sql: Self.sumOfVersions), arguments: [profile]) ?? 0
        let room = max(0, quota.bytes - (try usage(of: profile, db).bytes))
        _ = try removeVersions(Self.selectOldest, [profile], freeing: stored - room, db)
    }

    /// Removes the versions that were made up to a time.
    ///
    /// - Returns: their number.
    /// - Throws: `StorageError`, `SharedStoreError`.
    func purgeVersions(upTo time: Date) async throws -> Int {
        var count = 0
        for profile in try await profiles(Self.selectProfilesOfAged, time) {
            defer { changes[profile].bump() }
            var purged: Int
            repeat {
                purged = try await users.write(scope: Self.scope(profile), deleting: .permanent) { db in
                    try Self.removeVersions(Self.selectAged, [profile, time.millisecondsSince1970], freeing: .max, db)
                }
                count += purged
            } while purged > 0
        }
        return count
    }

    /// - Returns: the number of removed versions.
    private static func removeVersions(
        _ select: String,
        _ arguments: StatementArguments,
        freeing bytes: Int,
        _ db: Database
    ) throws -> Int {
        guard bytes > 0 else { return 0 }
        var (count, freed, weight) = (0, 0, 0)
        let rows = try Row.fetchAll(db.cachedStatement(sql: select), arguments: arguments)
        for row in rows where freed < bytes && weight < mostWeightAtOnce {
            try db.cachedStatement(sql: Self.deleteVersion)
                .execute(arguments: [row.value("document") as Int64, row.value("version") as Int64])
            count += 1
            freed += try row.size("bytes")
            weight += try row.size("weight")
        }
        return count
    }

    /// Versions have no reference to their document: a build that does not know them deletes it. Such ones go by age.
    static let versionTables = """
        CREATE TABLE pdf_version (
            document INTEGER NOT NULL,      -- pdf_document.sequence
            version INTEGER NOT NULL,       -- that it had
            profile TEXT NOT NULL,
            replaced INTEGER NOT NULL,      -- when it was changed
            name TEXT NOT NULL,
            blob_id INTEGER NOT NULL,       -- its file
            length INTEGER NOT NULL,
            pages TEXT NOT NULL,            -- JSON
            PRIMARY KEY (document, version)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX pdf_version_by_file ON pdf_version (blob_id);
        CREATE INDEX pdf_version_by_age ON pdf_version (profile, replaced, length);
        CREATE INDEX pdf_version_by_end ON pdf_version (replaced);

        -- A file goes with the last row that names it.
        DROP TRIGGER pdf_document_deleted;
        CREATE TRIGGER pdf_document_deleted AFTER DELETE ON pdf_document BEGIN
            DELETE FROM blob WHERE id = old.blob_id;
            DELETE FROM pdf_version WHERE document = old.sequence;
        END;
        DROP TRIGGER pdf_document_took_other_blob;
        CREATE TRIGGER pdf_document_took_other_blob AFTER UPDATE OF blob_id ON pdf_document
        WHEN old.blob_id <> new.blob_id AND NOT EXISTS (SELECT 1 FROM pdf_version WHERE blob_id = old.blob_id) BEGIN
            DELETE FROM blob WHERE id = old.blob_id;
        END;
        CREATE TRIGGER pdf_version_deleted AFTER DELETE ON pdf_version
        WHEN NOT EXISTS (SELECT 1 FROM pdf_document WHERE blob_id = old.blob_id) BEGIN
            DELETE FROM blob WHERE id = old.blob_id;
        END;
        """

    /// The pages of a document and of its versions, which a purge puts into one change of the journal.
    static let countOfStoredPages = """
        page_count + (
            SELECT coalesce(sum(length(pages)), 0) / 80 FROM pdf_version WHERE document = pdf_document.sequence
        )
        """
}

/// A document before a change.
struct DocumentVersion: FetchableRecord {
    let document: Int64
    let version: Int64
    let name: String
    let blob: Blob
    let pages: [DocumentPage]

    init(row: Row) throws {
        document = try row.value("document")
        version = try row.value("version")
        name = try row.value("name")
        blob = try Blob(id: row.value("blob_id"), length: row.size("length"))
        pages = try row.json("pages")
    }
}

extension DocumentStore {
    /// The most versions of a document.
    private static let most = 50
    /// The bytes of pages that the versions of a document have, beside the last one: a change of the journal has them
    /// when they are removed.
    private static let mostWeight = 64 << 10
    /// About the most bytes of pages of versions that one transaction removes.
    private static let mostWeightAtOnce = 1 << 20

    private static let insertVersion = "INSERT INTO pdf_version VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    private static let deleteVersion = "DELETE FROM pdf_version WHERE document = ? AND version = ?"
    private static let selectLastVersion = "SELECT * FROM pdf_version WHERE document = ? ORDER BY version DESC LIMIT 1"
    private static let removeOldest = """
        DELETE FROM pdf_version WHERE document = :document AND version IN (
            SELECT version FROM (
                SELECT version, row_number() OVER newest AS place, sum(length(pages)) OVER newest AS weight
                FROM pdf_version WHERE document = :document WINDOW newest AS (ORDER BY version DESC)
            ) WHERE place > \(most) OR place > 1 AND weight > \(mostWeight)
        )
        """
    private static let sumOfVersions = "SELECT sum(length + \(bytesBeside)) FROM pdf_version WHERE profile = ?"
    private static let selectVersions = """
        SELECT document, version, length + \(bytesBeside) AS bytes, length(pages) AS weight FROM pdf_version
        """
    private static let selectOldest = "\(selectVersions) WHERE profile = ? ORDER BY replaced LIMIT 1000"
    private static let selectAged = "\(selectVersions) WHERE profile = ? AND replaced <= ? ORDER BY replaced LIMIT 1000"
    private static let selectProfilesOfAged = "SELECT DISTINCT profile FROM pdf_version WHERE replaced <= ?"
}
