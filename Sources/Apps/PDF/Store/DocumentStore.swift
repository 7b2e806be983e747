import Cluster
import Concurrency
import Foundation
import GRDB
import Media
import Screens
import Storage

/// The documents of all profiles: rows here, files as blobs. A document is changed with its file, as a whole or not at
/// all. Several servers have the same rows, and each the files that it has made or has read.
///
/// Documents are user data: no cache budget removes them. Drafts are invisible as soon as they expire
/// (``purgeDrafts(at:)`` removes them).
struct DocumentStore: Sendable {
    /// The document has changed since it was read, or does not exist any more; or the name of a new one is taken.
    struct Gone: Error {}

    /// A document to be inserted.
    struct New: Sendable {
        var name: String
        /// A finished file that no document refers to yet. It is removed with the last reference to it unless one does.
        var file: Blob
        var pages: [DocumentPage]
    }

    /// A document after a change.
    struct Changed: Sendable {
        var document: Document
        /// The new revision of the list if that changed.
        var revision: Int?
        /// The bytes that the profile stores.
        var usage: StorageUsage
    }

    let users: UserDatabase
    /// Counts the changes of each profile.
    let changes = VersionCounters()

    init(_ users: UserDatabase) {
        self.users = users
        users.onChange(of: "pdf_profile") { [changes] keys in
            for profile in keys.compactMap({ $0.first.flatMap(String.fromDatabaseValue) }) { changes[profile].bump() }
        }
    }

    /// The documents of a profile, which have one counter of revisions.
    static func scope(_ profile: String) -> String { "pdf/\(profile)" }

    /// Brings the rows up to date, before those of a request are read.
    ///
    /// - Returns: the notification that they may be out of date; nil if they are not.
    func catchUp() async throws -> Banner? { try await users.catchUp()?.banner }

    /// Brings the rows up to date for a change, which cannot be made without the others.
    func catchUpToChange() async throws {
        if let lag = try await users.catchUp() { throw lag.reason }
    }

    /// Returns the token of a profile's documents; to be taken before ``catchUp()``. Drafts also expire by time, so
    /// that responses that show one are not cached.
    func changeToken(profile: String) -> ChangeToken {
        let topic = ServerEvent.Audience.profile(app: PDFApp.name, profile: profile).topic
        return ChangeToken(of: changes[profile]).and(users.changeToken(of: topic))
    }

    /// Returns a document of a profile; nil if there is none, or it is an expired draft.
    func document(_ id: String, profile: String, at now: Date) throws -> Document? {
        guard DocumentIdentity.isOne(id) else { return nil }
        return try users.read { try Self.document(id, profile: profile, at: now, $0) }
    }

    /// Returns a document of a profile with the bytes that the profile stores; nil if there is none, or it is an
    /// expired draft.
    func shown(_ id: String, profile: String, at now: Date) throws -> (document: Document, usage: StorageUsage)? {
        guard DocumentIdentity.isOne(id) else { return nil }
        return try users.read { db in
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
        var document = try Document(row: row, pages: pages(of: row.value("sequence"), db))
        // Rows of pages were lost: no document is without one.
        guard try document.pages.count == row.size("page_count") else { throw DatabaseError.damaged("page_count") }
        let isRead = row.hasColumn("can_undo")
        document.canUndo = try isRead ? row.value("can_undo") : hasVersion(of: document.sequence, db)
        return document
    }

    private static let selectDocument = """
        SELECT *, EXISTS (SELECT 1 FROM pdf_version WHERE document = sequence) AS can_undo FROM pdf_document
        WHERE id = ? AND profile = ? AND trashed IS NULL AND (draft_until IS NULL OR draft_until > ?)
        """

    static func pages(of sequence: Int64, _ db: Database) throws -> [DocumentPage] {
        try DocumentPage.fetchAll(
            db.cachedStatement(sql: "SELECT * FROM pdf_page WHERE document = ? ORDER BY number"),
            arguments: [sequence]
        )
    }

    /// The most pages that documents of one change have, if servers share them: the journal has their rows.
    private static let mostPages = 20_000

    /// Inserts documents, all or none.
    ///
    /// - Parameters:
    ///   - defaultNames: those of the names that no other document of the minute may have.
    ///   - draftUntil: when they expire; nil for saved documents.
    /// - Returns: the documents, the new revision of the list if that changed, and the bytes that the profile stores.
    /// - Throws: ``Gone`` if one of the default names is taken; 507 `quota-exceeded`; `MediaError.tooManyPages`. The
    ///   files of the documents are removed then.
    func insert(
        _ documents: [New],
        defaultNames: Set<String> = [],
        profile: String,
        created: Date,
        draftUntil: Date?,
        quota: StorageQuota
    ) async throws -> [Changed] {
        defer { changes[profile].bump() }
        let (users, blobs) = (users, users.database.blobs)
        if users.isShared, documents.reduce(0, { $0 + $1.pages.count }) > Self.mostPages {
            for new in documents { discard(new.file) }
            throw MediaError.tooManyPages(limit: Self.mostPages)
        }
        return try await users.write(scope: Self.scope(profile), contents: documents.map(\.file)) { db in
            if !defaultNames.isEmpty {
                let taken = try Self.names(profile, around: created, db)
                guard taken.isDisjoint(with: defaultNames) else { throw Gone() }
            }
            let inserted = try quota.holding({ try Self.usage(of: profile, db) }) {
                try documents.map { new in
                    try blobs.insert(new.file, in: db)
                    let sequence = try users.rowID(for: "pdf_document")
                    return try Self.insert(
                        new,
                        sequence: sequence,
                        profile: profile,
                        created: created,
                        draftUntil: draftUntil,
                        db
                    )
                }
            }
            try Self.reduceVersions(of: profile, to: quota, db)
            let revision = draftUntil == nil ? try Self.nextRevision(profile, db) : nil
            let usage = try Self.usage(of: profile, db)
            return inserted.map { Changed(document: $0, revision: revision, usage: usage) }
        }
    }

    /// - Parameter sequence: nil for the next one of SQLite.
    static func insert(
        _ new: New,
        sequence: Int64? = nil,
        profile: String,
        created: Date,
        draftUntil: Date?,
        _ db: Database
    ) throws -> Document {
        let id = DocumentIdentity.random()
        try db.cachedStatement(sql: insertDocument).execute(arguments: [
            sequence, id, profile, new.name, new.name.partFolded, created.millisecondsSince1970,
            draftUntil.map(\.millisecondsSince1970), new.file.id, new.file.length,
        ])
        let document = Document(
            sequence: db.lastInsertedRowID,
            id: id,
            version: 1,
            name: new.name,
            created: created.wholeMilliseconds,
            draftUntil: draftUntil?.wholeMilliseconds,
            blob: new.file,
            pages: new.pages
        )
        try insert(new.pages, of: document.sequence, db)
        try changeName(of: nil, to: document, profile: profile, db)
        return document
    }

    /// Inserts a saved document of a test's document.
    func seed(_ new: New, profile: String, created: Date, _ db: Database) throws {
        try users.database.blobs.insert(new.file, in: db)
        _ = try Self.insert(new, profile: profile, created: created, draftUntil: nil, db)
        _ = try Self.nextRevision(profile, db)
    }

    static func replace(
        _ old: [DocumentPage],
        by pages: [DocumentPage],
        of sequence: Int64,
        _ db: Database
    ) throws {
        try db.execute(sql: "DELETE FROM pdf_page WHERE document = ?", arguments: [sequence])
        try insert(pages, of: sequence, db)
        try ThumbnailStore.forget(old.map(\.content), db)
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
        INSERT INTO pdf_document (sequence, id, profile, name, folded, created, draft_until, blob_id, length)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    private static let insertPage = """
        INSERT INTO pdf_page (document, number, id, kind, width, height, rotation, content)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
}

// Files.
extension DocumentStore {
    /// Adopts a finished file for a document that is inserted or changed next.
    func stage(_ place: TemporaryPath) throws -> Blob { try users.database.blobs.adopt(place) }

    /// Removes a staged file that no document refers to.
    func discard(_ file: Blob) { users.database.blobs.discard(file) }

    /// Returns the file of a document, at a path at which programs can read it as long as the value exists.
    ///
    /// - Throws: ``Gone`` if the document has another one by now, and no earlier version has it.
    func file(of document: Document, in scratch: ScratchFolder) async throws -> TemporaryPath {
        do {
            return try await users.hold(document.blob, in: scratch)
        } catch StorageError.blobUnavailable(let id) {
            throw try names(document) ? StorageError.blobUnavailable(id) : Gone()
        }
    }

    /// Whether a document has the file that it had when it was read.
    func names(_ document: Document) throws -> Bool {
        let select = "SELECT 1 FROM pdf_document WHERE blob_id = ?"
        return try users.read { try Int.fetchOne($0, sql: select, arguments: [document.blob.id]) != nil }
    }

    /// Opens the file of a document, to be sent. It can be read to its end if the document changes meanwhile.
    ///
    /// - Throws: `StorageError.blobUnavailable` if the document has another one by now, and no earlier version has it;
    ///   other `StorageError`s.
    func content(of document: Document) async throws -> FileContent {
        FileContent(
            try await users.content(document.blob),
            of: document.blob,
            type: SourceFormat.pdf.mediaType,
            version: "\(document.blob.id)",
            fileName: document.fileName,
            disposition: .attachment
        )
    }
}
