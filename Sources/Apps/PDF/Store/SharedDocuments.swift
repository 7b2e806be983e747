import AppInterface
import Database
import Foundation
import Freshness
import Journal
import Screens
import SharedStore

/// The documents of all profiles, in a store that several servers share.
///
/// Changes of a profile's documents are serialized by a lock of the profile. A document is made of a file that was
/// stored before (`pdf_content`), and replaced only if it has not changed since it was read: servers do not wait for
/// each other while they make files.
struct SharedDocuments: Documents {
    let database: SharedDatabase
    let changes: SharedChanges
    /// The pictures of pages on this server.
    let thumbnails: ThumbnailStore
    /// The folder of files that programs read.
    let scratch: ScratchFolder
    let copies = DocumentCopies()

    /// The result of a transaction, and the data that the server removes after it.
    struct Outcome<Value: Sendable>: Sendable {
        var value: Value
        /// The contents of pages that were removed from a document (``DocumentPage/content``).
        var pages: [String] = []
        /// Whether there may be contents without a reader.
        var hasRemoved = false
    }

    func changeToken(profile: String) -> ChangeToken { changes.token(of: Self.topic(profile)) }

    private static func topic(_ profile: String) -> String { "profile/\(PDFApp.name)/\(profile)" }

    /// Changes the documents of a profile, one change after the other.
    func write<Value: Sendable>(
        of profile: String,
        _ updates: @escaping @Sendable (SQLTransaction) throws -> Outcome<Value>
    ) async throws -> Value {
        // The event that is published next tells it to other servers.
        defer { changes.changed(Self.topic(profile)) }
        let outcome = try await database.write(turns: ["pdf/\(profile)"], updates)
        await clean(after: outcome)
        return outcome.value
    }

    func document(_ id: String, profile: String, at now: Date) async throws -> Document? {
        guard DocumentIdentity.isOne(id) else { return nil }
        let parameters: [any SQLParameter] = [id, profile, now.millisecondsSince1970]
        return Document(try await database.rows(Self.selectListed, parameters) { try DocumentRow($0) })
    }

    func shown(_ id: String, profile: String, at now: Date) async throws -> (document: Document, usage: StorageUsage)? {
        guard DocumentIdentity.isOne(id) else { return nil }
        return try await database.read { transaction in
            try Self.document(id, profile: profile, at: now, transaction).map {
                ($0, try Self.counts(of: profile, transaction).usage)
            }
        }
    }

    func documentReader(_ id: String, profile: String, at now: Date) async throws -> () throws -> Document? {
        let document = try await document(id, profile: profile, at: now)
        return { document }
    }

    func insert(
        _ documents: [DocumentStore.New],
        profile: String,
        created: Date,
        draftUntil: Date?,
        quota: StorageQuota
    ) async throws -> (documents: [Document], revision: Int?) {
        try await storing(documents.map(\.file)) {
            try await write(of: profile) { transaction in
                try quota.holding({ try Self.counts(of: profile, transaction).usage }) {
                    let inserted = try documents.map { new in
                        try Self.contents.use(new.file.blob, transaction)
                        let document = Document(new, created: created, draftUntil: draftUntil)
                        return try Self.insert(document, profile: profile, transaction)
                    }
                    let change = inserted.reduce(DocumentCounts()) { $0 + DocumentCounts($1) }
                    let isListed = draftUntil == nil
                    let revision = try Self.count(change, isListed: isListed, of: profile, transaction)
                    return Outcome(value: (inserted, revision))
                }
            }
        }
    }

    func replace(
        _ document: Document,
        file: StagedFile,
        pages: [DocumentPage],
        profile: String,
        draftUntil: Date,
        quota: StorageQuota
    ) async throws -> DocumentStore.Changed {
        var changed = document
        changed.version += 1
        changed.blob = file.blob
        changed.pages = pages
        if document.isDraft { changed.draftUntil = draftUntil.wholeMilliseconds }
        return try await storing([file]) { [changed] in
            try await write(of: profile) { transaction in
                try quota.holding({ try Self.counts(of: profile, transaction).usage }) {
                    let revision = try Self.change(document, to: changed, of: profile, transaction)
                    try Self.replacePages(of: changed, transaction)
                    let removed = Set(document.pages.map(\.content)).subtracting(changed.pages.map(\.content))
                    return Outcome(value: (changed, revision), pages: Array(removed))
                }
            }
        }
    }

    func save(_ document: Document, name: String?, file: StagedFile?, isSaved: Bool, profile: String, at now: Date)
        async throws -> DocumentStore.Changed
    {
        var changed = document
        if let name { changed.name = name }
        if isSaved { changed.draftUntil = nil }
        if let file { changed.blob = file.blob }
        let isChanged = changed != document
        if isChanged { changed.version += 1 }
        return try await storing(file.map { [$0] } ?? []) { [changed] in
            try await write(of: profile) { transaction in
                let revision =
                    isChanged
                    ? try Self.change(document, to: changed, of: profile, transaction)
                    : try Self.check(document, transaction)
                return Outcome(value: (changed, revision))
            }
        }
    }

    func delete(_ id: String, toTrash: Bool, preconditions: WritePreconditions, profile: String, at now: Date)
        async throws -> DocumentStore.Changed?
    {
        guard DocumentIdentity.isOne(id) else { return nil }
        return try await write(of: profile) { transaction -> Outcome<DocumentStore.Changed?> in
            guard let document = try Self.document(id, profile: profile, at: now, transaction) else {
                return Outcome(value: nil)
            }
            try preconditions.check(version: document.version)
            let isKept = toTrash && !document.isDraft
            if isKept {
                let sql = "UPDATE pdf_document SET trashed = $2, terms = '{}' WHERE sequence = $1"
                try transaction.execute(sql, [document.sequence, now.millisecondsSince1970])
            } else {
                try Self.remove([document], transaction)
            }
            let after = isKept ? DocumentCounts(document, isTrashed: true) : DocumentCounts()
            let change = after - DocumentCounts(document)
            let revision = try Self.count(change, isListed: !document.isDraft, of: profile, transaction)
            return Outcome(
                value: (document, revision),
                pages: isKept ? [] : document.pages.map(\.content),
                hasRemoved: !isKept
            )
        }
    }

    /// Replaces a document, but for its pages, if it has not changed since it was read.
    ///
    /// - Returns: the new revision of the list if that changed.
    private static func change(
        _ document: Document,
        to changed: Document,
        of profile: String,
        _ transaction: SQLTransaction
    ) throws -> Int? {
        try check(document, transaction)
        if changed.blob != document.blob {
            try contents.use(changed.blob, transaction)
            try contents.release(document.blob, transaction)
        }
        try update(changed, profile: profile, transaction)
        let change = DocumentCounts(changed) - DocumentCounts(document)
        return try count(change, isListed: !changed.isDraft, of: profile, transaction)
    }

    /// Checks that a document has not changed since it was read.
    ///
    /// - Returns: nil, since no list has changed.
    /// - Throws: `DocumentStore.Gone`; `SharedStoreError`.
    @discardableResult
    private static func check(_ document: Document, _ transaction: SQLTransaction) throws -> Int? {
        let sql = """
            SELECT sequence FROM pdf_document
            WHERE sequence = $1 AND version = $2 AND content = $3 AND trashed IS NULL
            """
        let parameters: [any SQLParameter] = [document.sequence, document.version, document.blob.id.description]
        guard try transaction.rows(sql, parameters).first != nil else { throw DocumentStore.Gone() }
        return nil
    }
}

extension Document {
    /// A document that is not stored yet.
    fileprivate init(_ new: DocumentStore.New, created: Date, draftUntil: Date?) {
        self.init(
            sequence: 0,
            id: DocumentIdentity.random(),
            version: 1,
            name: new.name,
            created: created.wholeMilliseconds,
            draftUntil: draftUntil?.wholeMilliseconds,
            blob: new.file.blob,
            pages: new.pages
        )
    }
}

extension SharedDocuments {
    /// The tables that servers share. Texts are compared byte by byte, as in SQLite.
    static let migrations = [SharedMigration("pdf/001 documents", sql: tables)]

    private static let tables = """
        CREATE TABLE pdf_profile (
            profile text COLLATE "C" PRIMARY KEY,
            seen bool NOT NULL DEFAULT false,           -- the welcome was
            revision int8 NOT NULL DEFAULT 0,           -- changes of the list of saved documents
            saved int8 NOT NULL DEFAULT 0,              -- saved documents
            trashed int8 NOT NULL DEFAULT 0,            -- documents in the trash
            bytes int8 NOT NULL DEFAULT 0,              -- of all its documents
            draft_bytes int8 NOT NULL DEFAULT 0,        -- those of them that are drafts
            trash_bytes int8 NOT NULL DEFAULT 0         -- those of them in the trash
        );

        CREATE TABLE pdf_content (
            id text COLLATE "C" PRIMARY KEY,
            length int8 NOT NULL,
            unused timestamptz DEFAULT now()            -- since when no document has it; NULL: one has
        );
        CREATE INDEX pdf_content_by_disuse ON pdf_content (unused) WHERE unused IS NOT NULL;

        CREATE TABLE pdf_content_part (
            content text COLLATE "C" NOT NULL REFERENCES pdf_content (id),
            number int8 NOT NULL,                       -- from 0
            bytes bytea NOT NULL,                       -- 1 MiB, of the last one what is left
            PRIMARY KEY (content, number)
        );
        -- PDFs are compressed already; and a range is read without the rest of its part.
        ALTER TABLE pdf_content_part ALTER COLUMN bytes SET STORAGE EXTERNAL;

        CREATE TABLE pdf_document (
            sequence int8 GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
            id text COLLATE "C" NOT NULL UNIQUE,
            profile text COLLATE "C" NOT NULL,
            version int8 NOT NULL DEFAULT 1,            -- grows with every change
            name text NOT NULL,
            folded text COLLATE "C" NOT NULL,           -- the name as searches compare it
            terms text[] NOT NULL,                      -- each with the profile; none outside the list
            created int8 NOT NULL,                      -- milliseconds since 1970 UTC, as all times
            draft_until int8,                           -- NULL: saved
            trashed int8,                               -- when it was moved to the trash; NULL: it was not
            content text COLLATE "C" NOT NULL UNIQUE REFERENCES pdf_content (id),
            length int8 NOT NULL,
            page_count int8 NOT NULL
        );
        CREATE INDEX pdf_document_by_age ON pdf_document (profile, created DESC, sequence DESC)
            WHERE draft_until IS NULL AND trashed IS NULL;
        CREATE INDEX pdf_document_by_end ON pdf_document (draft_until) WHERE draft_until IS NOT NULL;
        CREATE INDEX pdf_document_by_deletion ON pdf_document (profile, trashed DESC, sequence DESC)
            WHERE trashed IS NOT NULL;
        CREATE INDEX pdf_document_by_trash_age ON pdf_document (trashed) WHERE trashed IS NOT NULL;
        CREATE INDEX pdf_document_by_term ON pdf_document USING gin (terms);

        CREATE TABLE pdf_page (
            document int8 NOT NULL REFERENCES pdf_document (sequence) ON DELETE CASCADE,
            number int8 NOT NULL,                       -- from 1
            id text COLLATE "C" NOT NULL,
            kind text COLLATE "C" NOT NULL,
            width float8 NOT NULL,
            height float8 NOT NULL,
            rotation int8 NOT NULL,
            content text COLLATE "C" NOT NULL,
            PRIMARY KEY (document, number)
        );
        CREATE INDEX pdf_page_by_content ON pdf_page (content);
        """
}
