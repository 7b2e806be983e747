import Foundation
import GRDB
public import Storage
import Upstream

/// The documents of all profiles: rows here, files as blobs. A row and its blob change in one transaction, so a
/// document is always as it was before a change or after it.
///
/// Documents are user data: no cache budget removes them. Drafts go when their time is over (``purgeDrafts(at:)``), and
/// are not seen from that instant on.
public struct DocumentStore: Sendable {
    /// The tables.
    public static let migrations: [SchemaMigration] = [
        SchemaMigration(
            "pdf/001 documents",
            sql: """
                CREATE TABLE pdf_profile (
                    profile TEXT NOT NULL PRIMARY KEY,
                    seen INTEGER NOT NULL, -- the welcome was
                    revision INTEGER NOT NULL -- changes of the list of saved documents
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE pdf_document (
                    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE,
                    profile TEXT NOT NULL,
                    name TEXT NOT NULL,
                    created INTEGER NOT NULL,
                    draft_until INTEGER, -- NULL: saved
                    blob_id INTEGER NOT NULL REFERENCES blob (id),
                    length INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX pdf_document_by_age ON pdf_document (profile, created DESC, sequence DESC) WHERE draft_until IS NULL;
                CREATE INDEX pdf_document_by_end ON pdf_document (draft_until) WHERE draft_until IS NOT NULL;

                CREATE TABLE pdf_page (
                    document INTEGER NOT NULL REFERENCES pdf_document (sequence) ON DELETE CASCADE,
                    number INTEGER NOT NULL, -- from 1
                    id TEXT NOT NULL,
                    kind TEXT NOT NULL,
                    width REAL NOT NULL,
                    height REAL NOT NULL,
                    rotation INTEGER NOT NULL,
                    content TEXT NOT NULL,
                    PRIMARY KEY (document, number)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX pdf_page_by_content ON pdf_page (content);

                CREATE TRIGGER pdf_document_deleted AFTER DELETE ON pdf_document BEGIN
                    DELETE FROM blob WHERE id = old.blob_id;
                END;
                CREATE TRIGGER pdf_document_took_other_blob AFTER UPDATE OF blob_id ON pdf_document WHEN old.blob_id <> new.blob_id BEGIN
                    DELETE FROM blob WHERE id = old.blob_id;
                END;

                CREATE TABLE pdf_thumbnail (
                    content TEXT NOT NULL,
                    rotation INTEGER NOT NULL,
                    width INTEGER NOT NULL,
                    type TEXT NOT NULL,
                    last_used INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    bytes BLOB NOT NULL,
                    PRIMARY KEY (content, rotation, width)
                ) STRICT;
                CREATE INDEX pdf_thumbnail_by_last_use ON pdf_thumbnail (last_used, size);
                """
        ),
        SchemaMigration(
            "pdf/002 versions",
            sql: "ALTER TABLE pdf_document ADD COLUMN version INTEGER NOT NULL DEFAULT 1; -- grows with every change"
        ),
    ]

    /// A document that was to be changed is not there any more.
    struct Gone: Error {}

    /// A document that is to be.
    struct New: Sendable {
        var name: String
        var blob: Blob
        var pages: [DocumentPage]
    }

    /// A document after a change, and the new revision of the list where that changed.
    typealias Changed = (document: Document, revision: Int?)

    let database: LarderDatabase
    /// Bumped when anything of a profile changes.
    let changes = VersionCounters()

    /// The documents of one database.
    public init(_ database: LarderDatabase) {
        self.database = database
    }

    /// For how long what a profile sees stays as it is. To be taken before it is read. Drafts go by time as well, so
    /// answers that show one are not kept.
    func changeToken(profile: String) -> ChangeToken { ChangeToken(of: changes[profile]) }

    /// A document of a profile; nil where there is none, or it was a draft whose time is over.
    func document(_ id: String, profile: String, at now: Date) throws -> Document? {
        guard DocumentIdentity.isOne(id) else { return nil }
        return try database.read { try Self.document(id, profile: profile, at: now, $0) }
    }

    private static func document(_ id: String, profile: String, at now: Date, _ db: Database) throws -> Document? {
        let sql = "SELECT * FROM pdf_document WHERE id = ? AND profile = ? AND (draft_until IS NULL OR draft_until > ?)"
        guard
            let row = try Row.fetchOne(try db.cachedStatement(sql: sql), arguments: [id, profile, Instant.stored(now)])
        else { return nil }
        return try Document(row: row, pages: pages(of: row["sequence"], db))
    }

    static func pages(of sequence: Int64, _ db: Database) throws -> [DocumentPage] {
        try Row.fetchAll(
            try db.cachedStatement(sql: "SELECT * FROM pdf_page WHERE document = ? ORDER BY number"),
            arguments: [sequence]
        )
        .map(DocumentPage.init(row:))
    }

    /// Adds documents, all or none; drafts until `draftUntil`, saved where that is nil. The new revision of the list
    /// where it changed. Where it throws, their files are gone.
    func insert(_ documents: [New], profile: String, created: Date, draftUntil: Date?) async throws -> (
        documents: [Document], revision: Int?
    ) {
        defer { changes[profile].bump() }
        let blobs = database.blobs
        return try await keepingOrDiscarding(documents.map(\.blob)) { db in
            let inserted = try documents.map { new in
                try blobs.insert(new.blob, in: db)
                let id = DocumentIdentity.random()
                try db.cachedStatement(
                    sql:
                        "INSERT INTO pdf_document (id, profile, name, created, draft_until, blob_id, length) VALUES (?, ?, ?, ?, ?, ?, ?)"
                )
                .execute(arguments: [
                    id, profile, new.name, Instant.stored(created), draftUntil.map(Instant.stored), new.blob.id,
                    new.blob.length,
                ])
                let sequence = db.lastInsertedRowID
                try Self.insert(new.pages, of: sequence, db)
                return Document(
                    sequence: sequence,
                    id: id,
                    version: 1,
                    name: new.name,
                    created: Instant.read(Instant.stored(created)),
                    draftUntil: draftUntil.map { Instant.read(Instant.stored($0)) },
                    blob: new.blob,
                    pages: new.pages
                )
            }
            return (inserted, draftUntil == nil ? try Self.nextRevision(profile, db) : nil)
        }
    }

    /// Gives a document another file with other pages. A draft gets more time. Where it throws, its file is gone:
    /// ``Gone`` where the document is.
    func replace(_ document: Document, blob: Blob, pages: [DocumentPage], profile: String, draftUntil: Date)
        async throws -> Changed
    {
        defer { changes[profile].bump() }
        let blobs = database.blobs
        return try await keepingOrDiscarding([blob]) { db in
            // Who changes a document has its turn: what is not as it was read has gone.
            let sql = "SELECT 1 FROM pdf_document WHERE sequence = ? AND blob_id = ?"
            guard try Int.fetchOne(db, sql: sql, arguments: [document.sequence, document.blob.id]) != nil else {
                throw Gone()
            }
            var changed = document
            changed.version += 1
            changed.blob = blob
            changed.pages = pages
            if document.isDraft { changed.draftUntil = Instant.read(Instant.stored(draftUntil)) }
            try blobs.insert(blob, in: db)
            try db.execute(
                sql: "UPDATE pdf_document SET version = ?, blob_id = ?, length = ?, draft_until = ? WHERE sequence = ?",
                arguments: [
                    changed.version, blob.id, blob.length, changed.draftUntil.map(Instant.stored), document.sequence,
                ]
            )
            try db.execute(sql: "DELETE FROM pdf_page WHERE document = ?", arguments: [document.sequence])
            try Self.insert(pages, of: document.sequence, db)
            try Self.forgetThumbnails(of: document.pages, db)
            return (changed, document.isDraft ? nil : try Self.nextRevision(profile, db))
        }
    }

    /// One transaction; where it fails, the files of blobs that were to become known in it are removed.
    private func keepingOrDiscarding<Value: Sendable>(
        _ blobs: [Blob],
        _ updates: @Sendable @escaping (Database) throws -> Value
    ) async throws -> Value {
        do {
            return try await database.write(updates)
        } catch {
            for blob in blobs { database.blobs.discard(blob) }
            throw error
        }
    }

    private static func insert(_ pages: [DocumentPage], of sequence: Int64, _ db: Database) throws {
        let insert = try db.cachedStatement(
            sql:
                "INSERT INTO pdf_page (document, number, id, kind, width, height, rotation, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        for (index, page) in pages.enumerated() {
            try insert.execute(
                arguments: [
                    sequence, index + 1, page.id, page.kind.rawValue, page.width, page.height, page.rotation,
                    page.content,
                ]
            )
        }
    }

    /// Saves a document, or names it, or both; nil where there is none.
    func save(_ id: String, name: String?, isSaved: Bool, profile: String, at now: Date) async throws -> (
        document: Document, revision: Int?
    )? {
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
                    document.version, document.name, document.draftUntil.map(Instant.stored), document.sequence,
                ]
            )
            return (document, document.isDraft ? nil : try Self.nextRevision(profile, db))
        }
    }

    /// Deletes a document with its file; false where there is none. What was made of it stays.
    func delete(_ id: String, profile: String, at now: Date) async throws -> (document: Document, revision: Int?)? {
        guard DocumentIdentity.isOne(id) else { return nil }
        defer { changes[profile].bump() }
        return try await database.writeFreeingRoom { db in
            guard let document = try Self.document(id, profile: profile, at: now, db) else { return nil }
            try db.execute(sql: "DELETE FROM pdf_document WHERE sequence = ?", arguments: [document.sequence])
            try Self.forgetThumbnails(of: document.pages, db)
            return (document, document.isDraft ? nil : try Self.nextRevision(profile, db))
        }
    }

    /// Takes the next number of a profile's list.
    static func nextRevision(_ profile: String, _ db: Database) throws -> Int {
        let sql = """
            INSERT INTO pdf_profile (profile, seen, revision) VALUES (?, 0, 1) ON CONFLICT (profile) DO UPDATE SET revision = revision + 1 RETURNING revision
            """
        guard let revision = try Int.fetchAll(db, sql: sql, arguments: [profile]).first else {
            throw StorageError.damagedDatabase(path: "pdf_profile", detail: "the counter is missing")
        }
        return revision
    }
}

/// Times in the tables: whole milliseconds since 1970-01-01 UTC.
enum Instant {
    static func stored(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1000 + 0.01).rounded(.down)) }
    static func read(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension Document {
    init(row: Row, pages: [DocumentPage]) {
        self.init(
            sequence: row["sequence"],
            id: row["id"],
            version: row["version"],
            name: row["name"],
            created: Instant.read(row["created"]),
            draftUntil: (row["draft_until"] as Int64?).map(Instant.read),
            blob: Blob(id: row["blob_id"], length: row["length"]),
            pages: pages
        )
    }
}

extension DocumentPage {
    init(row: Row) throws {
        guard let kind = Kind(rawValue: row["kind"]) else {
            throw StorageError.damagedDatabase(path: "pdf_page", detail: "a page of an unknown kind")
        }
        self.init(
            id: row["id"],
            kind: kind,
            width: row["width"],
            height: row["height"],
            rotation: row["rotation"],
            content: row["content"]
        )
    }
}
