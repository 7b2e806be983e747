package import Database
import Foundation
import Freshness
import GRDB
import Screens
import TextSearch

/// The documents of all profiles: rows here, files as blobs. A row and its blob change in one transaction, so that a
/// change is made as a whole or not at all.
///
/// Documents are user data: no cache budget removes them. Drafts are invisible as soon as they expire
/// (``purgeDrafts(at:)`` removes them).
package struct DocumentStore: Sendable {
    /// The document has changed since it was read, or does not exist any more.
    struct Gone: Error {}

    /// A document to be inserted.
    struct New: Sendable {
        var name: String
        var file: StagedFile
        var pages: [DocumentPage]
    }

    /// A document after a change, and the new revision of the list if that changed.
    typealias Changed = (document: Document, revision: Int?)

    let database: LarderDatabase
    /// Counts the changes of each profile.
    let changes = VersionCounters()

    package init(_ database: LarderDatabase) {
        self.database = database
    }

    func changeToken(profile: String) -> ChangeToken { ChangeToken(of: changes[profile]) }

    func document(_ id: String, profile: String, at now: Date) throws -> Document? {
        guard DocumentIdentity.isOne(id) else { return nil }
        return try database.read { try Self.document(id, profile: profile, at: now, $0) }
    }

    /// Returns a document of a profile with what the profile stores; nil if there is none, or it is an expired draft.
    func shown(_ id: String, profile: String, at now: Date) throws -> (document: Document, usage: StorageUsage)? {
        guard DocumentIdentity.isOne(id) else { return nil }
        return try database.read { db in
            try Self.document(id, profile: profile, at: now, db).map { ($0, try Self.usage(of: profile, db)) }
        }
    }

    static func document(_ id: String, profile: String, at now: Date, _ db: Database) throws -> Document? {
        guard
            let row = try Row.fetchOne(
                try db.cachedStatement(sql: selectDocument),
                arguments: [id, profile, now.millisecondsSince1970]
            )
        else { return nil }
        return try document(row, db)
    }

    /// Reads a row of table `pdf_document` with its pages.
    static func document(_ row: Row, _ db: Database) throws -> Document {
        let document = try Document(row: row, pages: pages(of: row.value("sequence"), db))
        // Rows of pages were lost: no document is without one.
        guard try document.pages.count == row.size("page_count") else { throw DatabaseError.damaged("page_count") }
        return document
    }

    private static let selectDocument = """
        SELECT * FROM pdf_document
        WHERE id = ? AND profile = ? AND trashed IS NULL AND (draft_until IS NULL OR draft_until > ?)
        """

    static func pages(of sequence: Int64, _ db: Database) throws -> [DocumentPage] {
        try DocumentPage.fetchAll(
            db.cachedStatement(sql: "SELECT * FROM pdf_page WHERE document = ? ORDER BY number"),
            arguments: [sequence]
        )
    }

    func insert(
        _ documents: [New],
        profile: String,
        created: Date,
        draftUntil: Date?,
        quota: StorageQuota
    ) async throws -> (documents: [Document], revision: Int?) {
        defer { changes[profile].bump() }
        let blobs = database.blobs
        return try await keepingOrDiscarding(documents.map(\.file)) { db in
            let inserted = try quota.holding({ try Self.usage(of: profile, db) }) {
                try documents.map { new in
                    try blobs.insert(new.file.blob, in: db)
                    return try Self.insert(new, profile: profile, created: created, draftUntil: draftUntil, db)
                }
            }
            return (inserted, draftUntil == nil ? try Self.nextRevision(profile, db) : nil)
        }
    }

    static func insert(
        _ new: New,
        profile: String,
        created: Date,
        draftUntil: Date?,
        _ db: Database
    ) throws -> Document {
        let id = DocumentIdentity.random()
        try db.cachedStatement(sql: insertDocument).execute(arguments: [
            id, profile, new.name, new.name.partFolded, created.millisecondsSince1970,
            draftUntil.map(\.millisecondsSince1970), new.file.blob.id, new.file.blob.length,
        ])
        let sequence = db.lastInsertedRowID
        try insert(new.pages, of: sequence, db)
        let document = Document(
            sequence: sequence,
            id: id,
            version: 1,
            name: new.name,
            created: created.wholeMilliseconds,
            draftUntil: draftUntil?.wholeMilliseconds,
            blob: new.file.blob,
            pages: new.pages
        )
        try changeName(of: nil, to: document, profile: profile, db)
        return document
    }

    /// Inserts a saved document of a test's document.
    func seed(_ new: New, profile: String, created: Date, _ db: Database) throws {
        try database.blobs.insert(new.file.blob, in: db)
        _ = try Self.insert(new, profile: profile, created: created, draftUntil: nil, db)
        _ = try Self.nextRevision(profile, db)
    }

    func replace(
        _ document: Document,
        file: StagedFile,
        pages: [DocumentPage],
        profile: String,
        draftUntil: Date,
        quota: StorageQuota
    ) async throws -> Changed {
        defer { changes[profile].bump() }
        let blobs = database.blobs
        return try await keepingOrDiscarding([file]) { db in
            // Every change holds the lock of its document: one that has changed since it was read was deleted.
            let sql = "SELECT 1 FROM pdf_document WHERE sequence = ? AND blob_id = ? AND trashed IS NULL"
            guard try Int.fetchOne(db, sql: sql, arguments: [document.sequence, document.blob.id]) != nil else {
                throw Gone()
            }
            var changed = document
            changed.version += 1
            changed.blob = file.blob
            changed.pages = pages
            if document.isDraft { changed.draftUntil = draftUntil.wholeMilliseconds }
            try blobs.insert(file.blob, in: db)
            try quota.holding({ try Self.usage(of: profile, db) }) { try Self.update(changed, db) }
            try Self.replace(document.pages, by: pages, of: document.sequence, db)
            return (changed, document.isDraft ? nil : try Self.nextRevision(profile, db))
        }
    }

    private static func replace(
        _ old: [DocumentPage],
        by pages: [DocumentPage],
        of sequence: Int64,
        _ db: Database
    ) throws {
        try db.execute(sql: "DELETE FROM pdf_page WHERE document = ?", arguments: [sequence])
        try insert(pages, of: sequence, db)
        try ThumbnailStore.forget(old, db)
    }

    /// Runs one transaction; if it fails, the new files of documents are removed.
    func keepingOrDiscarding<Value: Sendable>(
        _ files: [StagedFile],
        _ updates: @Sendable @escaping (Database) throws -> Value
    ) async throws -> Value {
        do {
            // Nothing is changed for a client that has left.
            try Task.checkCancellation()
            return try await database.write(updates)
        } catch {
            for file in files { discard(file) }
            throw error
        }
    }

    private static func insert(_ pages: [DocumentPage], of sequence: Int64, _ db: Database) throws {
        let insert = try db.cachedStatement(sql: insertPage)
        for (index, page) in pages.enumerated() {
            try insert.execute(
                arguments: [
                    sequence, index + 1, page.id, page.kind.rawValue, page.width, page.height, page.rotation,
                    page.content,
                ]
            )
        }
        try db.cachedStatement(sql: "UPDATE pdf_document SET page_count = ? WHERE sequence = ?")
            .execute(arguments: [pages.count, sequence])
    }

    /// Takes the next revision of a profile's list.
    static func nextRevision(_ profile: String, _ db: Database) throws -> Int {
        let sql = """
            INSERT INTO pdf_profile (profile, seen, revision) VALUES (?, 0, 1)
            ON CONFLICT (profile) DO UPDATE SET revision = revision + 1 RETURNING revision
            """
        guard let revision = try Int.fetchAll(db, sql: sql, arguments: [profile]).first else {
            throw StorageError.damagedDatabase(path: "pdf_profile", detail: "the counter is missing")
        }
        return revision
    }

    private static let insertDocument = """
        INSERT INTO pdf_document (id, profile, name, folded, created, draft_until, blob_id, length)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
    private static let insertPage = """
        INSERT INTO pdf_page (document, number, id, kind, width, height, rotation, content)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
}

extension DocumentStore {
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

extension DocumentStore: Documents {
    func documentReader(_ id: String, profile: String, at now: Date) -> () throws -> Document? {
        { try document(id, profile: profile, at: now) }
    }

    func stage(_ place: TemporaryPath) throws -> StagedFile {
        StagedFile(blob: try database.blobs.adopt(place), place: nil)
    }

    func discard(_ file: StagedFile) { database.blobs.discard(file.blob) }

    func file(of document: Document) -> DocumentFile {
        DocumentFile(path: database.blobs.filePath(of: document.blob))
    }

    func content(of document: Document) throws -> FileContent {
        FileContent(
            blob: try database.blobs.reader(document.blob),
            type: SourceFormat.pdf.mediaType,
            version: "\(document.blob.id)",
            fileName: document.fileName,
            disposition: .attachment
        )
    }

    func save(
        _ thumbnail: ThumbnailStore.Thumbnail,
        of page: DocumentPage,
        width: Int,
        in thumbnails: ThumbnailStore,
        budget: Int,
        at now: Date
    ) async throws {
        try await thumbnails.save(thumbnail, of: page, width: width, budget: budget, at: now) { db in
            // The document may have been deleted while the page was drawn; then no picture of it may stay.
            let select = try db.cachedStatement(sql: "SELECT 1 FROM pdf_page WHERE content = ?")
            return try Row.fetchOne(select, arguments: [page.content]) != nil
        }
    }
}
