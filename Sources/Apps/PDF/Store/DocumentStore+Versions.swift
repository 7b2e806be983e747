import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage

/// Earlier versions: a document before each of its last changes, with its file, so that the changes can be undone. They
/// fill the room of the quota that documents leave; the oldest are removed first.
extension DocumentStore {
    /// The versions that a change of a profile's documents makes and removes.
    struct History: Sendable {
        let profile: String
        let now: Date
        let quota: StorageQuota
        /// Whether changes can be undone.
        let isKept: Bool

        /// Stores a document before a change. The file that it has then must not be without a row meanwhile.
        ///
        /// A change that cannot be undone ends the undo of those before it.
        func add(_ document: Document, _ db: Database) throws {
            guard isKept, document.pages.count <= DocumentStore.mostPagesOfVersions else {
                return try end(of: document, db)
            }
            let pages = String(decoding: try JSONEncoder().encode(document.pages), as: UTF8.self)
            try db.cachedStatement(sql: DocumentStore.insertVersion).execute(arguments: [
                document.sequence, document.version, profile, now.millisecondsSince1970, document.name,
                document.blob.id, document.blob.length, pages,
            ])
            try db.cachedStatement(sql: DocumentStore.removeOldest).execute(arguments: ["document": document.sequence])
        }

        /// Removes the versions of a document.
        func end(of document: Document, _ db: Database) throws {
            try db.cachedStatement(sql: DocumentStore.deleteVersions).execute(arguments: [document.sequence])
        }

        /// Removes versions that take more than the room beside the documents.
        func reduce(_ db: Database) throws { try DocumentStore.reduceVersions(of: profile, to: quota, db) }
    }

    /// Takes back the last change of a document that was not undone, and postpones the end of a draft.
    ///
    /// - Throws: ``Problem`` 409 `nothing-to-undo`; ``Gone`` if the document or its versions have changed since it was
    ///   read.
    func undo(_ document: Document, draftUntil: Date, profile: String) async throws -> Changed {
        defer { changes[profile].bump() }
        guard let before = try users.read({ try Self.lastVersion(of: document.sequence, $0) }) else {
            throw Problem(.nothingToUndo, "No earlier version of the document is stored.")
        }
        // A lost file replaces none that can be read.
        _ = try await users.content(before.blob)
        return try await users.write(scope: Self.scope(profile)) { db in
            try Self.check(document, db)
            guard try Self.lastVersion(of: document.sequence, db)?.version == before.version else { throw Gone() }
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

    private static func lastVersion(of sequence: Int64, _ db: Database) throws -> DocumentVersion? {
        try DocumentVersion.fetchOne(db.cachedStatement(sql: selectLastVersion), arguments: [sequence])
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
    /// - Parameter publish: is called with each new revision of a profile's list.
    /// - Returns: their number.
    func purgeVersions(upTo time: Date, publish: (_ revision: Int, _ profile: String) -> Void = { _, _ in })
        async throws -> Int
    {
        var count = 0
        for profile in try await profiles(Self.selectProfilesOfAged, time) {
            defer { changes[profile].bump() }
            while let purged = try await purgeVersions(of: profile, upTo: time) {
                count += purged.count
                publish(purged.revision, profile)
            }
        }
        return count
    }

    /// - Returns: nil if there are none.
    private func purgeVersions(of profile: String, upTo time: Date) async throws -> (count: Int, revision: Int)? {
        try await users.write(scope: Self.scope(profile), deleting: .permanent) { db in
            let arguments: StatementArguments = [profile, time.millisecondsSince1970]
            let count = try Self.removeVersions(Self.selectAged, arguments, freeing: .max, db)
            guard count > 0 else { return nil }
            // Other servers notice it by the row of the profile.
            return (count, try Self.nextRevision(profile, db))
        }
    }

    /// Removes versions, each with the older ones of its document, which an undo could not reach any more.
    ///
    /// - Returns: the number of removed versions, without those older ones that are not selected.
    private static func removeVersions(
        _ select: String,
        _ arguments: StatementArguments,
        freeing bytes: Int,
        _ db: Database
    ) throws -> Int {
        let keys = try keys(ofVersions: select, arguments, freeing: bytes, db)
        let delete = try db.cachedStatement(sql: deleteVersionsUpTo)
        for key in keys { try delete.execute(arguments: [key.document, key.version]) }
        return keys.count
    }

    /// Returns the first versions that have these bytes, no more than one transaction may remove.
    private static func keys(
        ofVersions select: String,
        _ arguments: StatementArguments,
        freeing bytes: Int,
        _ db: Database
    ) throws -> [(document: Int64, version: Int64)] {
        guard bytes > 0 else { return [] }
        var (keys, freed, weight): ([(document: Int64, version: Int64)], Int, Int) = ([], 0, 0)
        let rows = try Row.fetchCursor(db.cachedStatement(sql: select), arguments: arguments)
        while freed < bytes, weight < mostWeightAtOnce, let row = try rows.next() {
            try keys.append((row.value("document"), row.value("version")))
            freed += try row.size("bytes")
            weight += try row.size("weight")
        }
        return keys
    }

    /// Versions have no reference to their document: a build that does not know them may delete it. Such versions are
    /// removed by age.
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

    /// The pages of a document and of its versions, which a purge puts into one change of the journal: a page of a
    /// version has 80 bytes at least.
    static let countOfStoredPages = """
        page_count + (
            SELECT coalesce(sum(\(weight)), 0) / 80 FROM pdf_version WHERE document = pdf_document.sequence
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
    /// The most pages of a document that has versions. A change of the journal has the pages before and after, those of
    /// the new version, and those of the versions that are removed for it.
    static let mostPagesOfVersions = 5000
    /// The bytes of pages that the versions of a document have together; the last one stays even with more.
    private static let mostWeight = 256 << 10
    /// About the most bytes of versions that one transaction removes beside its own change.
    private static let mostWeightAtOnce = 512 << 10
    /// The bytes of a version in a change of the journal: those of its pages, and at most about these of its name and
    /// other columns.
    private static let weight = "(length(pages) + 400)"

    private static let insertVersion = "INSERT INTO pdf_version VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    private static let deleteVersion = "DELETE FROM pdf_version WHERE document = ? AND version = ?"
    private static let deleteVersionsUpTo = "DELETE FROM pdf_version WHERE document = ? AND version <= ?"
    private static let deleteVersions = "DELETE FROM pdf_version WHERE document = ?"
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
        SELECT document, version, length + \(bytesBeside) AS bytes, \(weight) AS weight FROM pdf_version
        """
    private static let selectOldest = "\(selectVersions) WHERE profile = ? ORDER BY replaced, version"
    private static let selectAged = "\(selectVersions) WHERE profile = ? AND replaced <= ? ORDER BY replaced, version"
    private static let selectProfilesOfAged = "SELECT DISTINCT profile FROM pdf_version WHERE replaced <= ?"
}
