import Database
import Foundation
import Freshness
import Screens
import SharedStore
import TextSearch

extension SharedDocuments {
    /// The columns of a document.
    static let columns = """
        document.sequence, document.id, document.version, document.name, document.created, document.draft_until,
        document.content, document.length, document.page_count
        """

    /// Begins the statements that return a document with its pages: a row for each page, each with the document.
    private static let selectDocument = """
        SELECT \(columns), page.number AS page_number, page.id AS page_id, page.kind AS page_kind,
            page.width AS page_width, page.height AS page_height, page.rotation AS page_rotation,
            page.content AS page_content
        FROM pdf_document AS document LEFT JOIN pdf_page AS page ON page.document = document.sequence
        WHERE document.id = $1 AND document.profile = $2
        """
    static let selectListed = """
        \(selectDocument) AND document.trashed IS NULL AND (document.draft_until IS NULL OR document.draft_until > $3)
        ORDER BY page.number
        """
    private static let selectTrashed = "\(selectDocument) AND document.trashed IS NOT NULL ORDER BY page.number"

    /// Returns a document of a profile; nil if there is none, or it is an expired draft, or it is in the trash.
    static func document(_ id: String, profile: String, at now: Date, _ transaction: SQLTransaction) throws
        -> Document?
    {
        let rows = try transaction.rows(selectListed, [id, profile, now.millisecondsSince1970])
        return Document(try rows.map { try DocumentRow($0) })
    }

    /// Returns a document in the trash of a profile; nil if there is none.
    static func trashedDocument(_ id: String, profile: String, _ transaction: SQLTransaction) throws -> Document? {
        Document(try transaction.rows(selectTrashed, [id, profile]).map { try DocumentRow($0) })
    }

    /// Inserts the row of a document and its pages.
    ///
    /// - Returns: the document with its sequence.
    static func insert(_ document: Document, profile: String, _ transaction: SQLTransaction) throws -> Document {
        var document = document
        let row = try transaction.rows(
            """
            INSERT INTO pdf_document
                (id, profile, version, name, folded, terms, created, draft_until, content, length, page_count)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING sequence
            """,
            [
                document.id, profile, document.version, document.name, document.name.partFolded,
                terms(of: document, profile: profile), document.created.millisecondsSince1970,
                document.draftUntil?.millisecondsSince1970, document.blob.id.description, document.blob.length,
                document.pages.count,
            ]
        ).first
        document.sequence = try row?.value("sequence") ?? 0
        try insert(document.pages, of: document.sequence, transaction)
        return document
    }

    /// Writes the row of a document, other than its pages.
    static func update(_ document: Document, profile: String, _ transaction: SQLTransaction) throws {
        try transaction.execute(
            """
            UPDATE pdf_document SET
                version = $2, name = $3, folded = $4, terms = $5, draft_until = $6, content = $7, length = $8,
                page_count = $9
            WHERE sequence = $1
            """,
            [
                document.sequence, document.version, document.name, document.name.partFolded,
                terms(of: document, profile: profile), document.draftUntil?.millisecondsSince1970,
                document.blob.id.description, document.blob.length, document.pages.count,
            ]
        )
    }

    /// Replaces the pages of a document.
    static func replacePages(of document: Document, _ transaction: SQLTransaction) throws {
        try transaction.execute("DELETE FROM pdf_page WHERE document = $1", [document.sequence])
        try insert(document.pages, of: document.sequence, transaction)
    }

    /// Inserts all pages by one statement: a document may have thousands.
    private static func insert(_ pages: [DocumentPage], of sequence: Int64, _ transaction: SQLTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO pdf_page (document, number, id, kind, width, height, rotation, content)
            SELECT $1, page.number, page.id, page.kind, page.width::float8, page.height::float8, page.rotation,
                page.content
            FROM unnest($2, $3, $4, $5, $6, $7) WITH ORDINALITY
                AS page (id, kind, width, height, rotation, content, number)
            """,
            [
                sequence, pages.map(\.id), pages.map(\.kind.rawValue), pages.map { "\($0.width)" },
                pages.map { "\($0.height)" }, pages.map(\.rotation), pages.map(\.content),
            ]
        )
    }
}

/// A row of a document with one of its pages.
struct DocumentRow: Sendable {
    let document: Document
    /// Nil if it has no pages, or they were not selected.
    var page: DocumentPage?
    let pageCount: Int

    /// Reads ``SharedDocuments/columns``.
    init(outline row: SQLRow) throws {
        let (name, draftUntil): (String, Int64?) = (try row.value("content"), try row.value("draft_until"))
        guard let content = BlobID(fileName: name) else {
            throw StorageError.damagedDatabase(path: "pdf_document", detail: "a content of no identity")
        }
        document = Document(
            sequence: try row.value("sequence"),
            id: try row.value("id"),
            version: try row.value("version"),
            name: try row.value("name"),
            created: Date(millisecondsSince1970: try row.value("created")),
            draftUntil: draftUntil.map(Date.init(millisecondsSince1970:)),
            blob: Blob(id: content, length: try row.value("length")),
            pages: []
        )
        pageCount = try row.value("page_count")
    }

    /// Reads ``SharedDocuments/columns`` and a page.
    init(_ row: SQLRow) throws {
        try self.init(outline: row)
        guard try row.value("page_number") as Int? != nil else { return }
        guard let kind = DocumentPage.Kind(rawValue: try row.value("page_kind")) else {
            throw StorageError.damagedDatabase(path: "pdf_page", detail: "a page of an unknown kind")
        }
        page = DocumentPage(
            id: try row.value("page_id"),
            kind: kind,
            width: try row.value("page_width"),
            height: try row.value("page_height"),
            rotation: try row.value("page_rotation"),
            content: try row.value("page_content")
        )
    }
}

extension Document {
    /// A document of the rows of its pages; nil if there are none.
    init?(_ rows: [DocumentRow]) {
        guard let first = rows.first else { return nil }
        self = first.document
        pages = rows.compactMap(\.page)
    }
}

extension DocumentStore.Listing.Row {
    /// The row of a document in the list.
    init(_ row: DocumentRow) {
        let document = row.document
        self.init(
            id: document.id,
            name: document.name,
            created: document.created,
            length: document.blob.length,
            pageCount: row.pageCount
        )
    }
}

/// The counts of each profile. Every change of a document updates them in its transaction.
extension SharedDocuments {
    func revision(profile: String) async throws -> Int {
        try await database.rows(Self.selectProfile, [profile]) { try $0.value("revision") as Int }.first ?? 0
    }

    func usage(profile: String) async throws -> StorageUsage {
        try await database.rows(Self.selectProfile, [profile]) { try DocumentCounts($0).usage }.first
            ?? DocumentCounts().usage
    }

    func isWelcomeSeen(profile: String) async throws -> Bool {
        try await database.rows(Self.selectProfile, [profile]) { try $0.value("seen") as Bool }.first ?? false
    }

    func setWelcomeSeen(_ isSeen: Bool, profile: String) async throws {
        try await write(of: profile) { transaction in
            try transaction.execute(
                """
                INSERT INTO pdf_profile (profile, seen) VALUES ($1, $2)
                ON CONFLICT (profile) DO UPDATE SET seen = excluded.seen
                """,
                [profile, isSeen]
            )
            return Outcome(value: ())
        }
    }

    static let selectProfile = "SELECT * FROM pdf_profile WHERE profile = $1"

    static func counts(of profile: String, _ transaction: SQLTransaction) throws -> DocumentCounts {
        try transaction.rows(selectProfile, [profile]).first.map { try DocumentCounts($0) } ?? DocumentCounts()
    }

    /// Counts a change.
    ///
    /// - Parameter isListed: whether it changes the list of saved documents, or the trash.
    /// - Returns: the new revision of the list if that changed.
    static func count(
        _ change: DocumentCounts,
        isListed: Bool,
        of profile: String,
        _ transaction: SQLTransaction
    ) throws -> Int? {
        let row = try transaction.rows(
            """
            INSERT INTO pdf_profile AS one (profile, revision, saved, trashed, bytes, draft_bytes, trash_bytes)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (profile) DO UPDATE SET
                revision = one.revision + excluded.revision, saved = one.saved + excluded.saved,
                trashed = one.trashed + excluded.trashed, bytes = one.bytes + excluded.bytes,
                draft_bytes = one.draft_bytes + excluded.draft_bytes,
                trash_bytes = one.trash_bytes + excluded.trash_bytes
            RETURNING revision
            """,
            [
                profile, isListed ? 1 : 0, change.saved, change.trashed, change.bytes, change.draftBytes,
                change.trashBytes,
            ]
        ).first
        return isListed ? try row?.value("revision") : nil
    }
}

/// The counts of a profile, which triggers keep for ``DocumentStore``.
struct DocumentCounts: Sendable, Equatable {
    /// Saved documents.
    var saved = 0
    /// Documents in the trash.
    var trashed = 0
    /// Bytes of all documents.
    var bytes = 0
    /// Those of them that are drafts.
    var draftBytes = 0
    /// Those of them in the trash.
    var trashBytes = 0

    init() {}

    /// Counts one document.
    init(_ document: Document, isTrashed: Bool = false) {
        let size = document.blob.length + DocumentStore.bytesBeside
        bytes = size
        if document.isDraft {
            draftBytes = size
        } else if isTrashed {
            (trashed, trashBytes) = (1, size)
        } else {
            saved = 1
        }
    }

    /// Reads a row of a profile.
    init(_ row: SQLRow) throws {
        (saved, trashed) = (try row.value("saved"), try row.value("trashed"))
        (bytes, draftBytes, trashBytes) = (
            try row.value("bytes"), try row.value("draft_bytes"), try row.value("trash_bytes")
        )
    }

    var usage: StorageUsage { StorageUsage(bytes: bytes, trash: trashBytes, drafts: draftBytes) }

    static func + (one: DocumentCounts, other: DocumentCounts) -> DocumentCounts {
        var sum = one
        sum.saved += other.saved
        sum.trashed += other.trashed
        sum.bytes += other.bytes
        sum.draftBytes += other.draftBytes
        sum.trashBytes += other.trashBytes
        return sum
    }

    static prefix func - (counts: DocumentCounts) -> DocumentCounts {
        var negative = DocumentCounts()
        negative.saved = -counts.saved
        negative.trashed = -counts.trashed
        negative.bytes = -counts.bytes
        negative.draftBytes = -counts.draftBytes
        negative.trashBytes = -counts.trashBytes
        return negative
    }

    static func - (one: DocumentCounts, other: DocumentCounts) -> DocumentCounts { one + -other }
}
