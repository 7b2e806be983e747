import Database
import Freshness
import Screens
import SharedStore

/// What is counted of each profile. Every change of a document counts itself in its transaction.
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

    /// Returns what is counted of a profile.
    static func counts(of profile: String, _ transaction: SQLTransaction) throws -> DocumentCounts {
        try transaction.rows(selectProfile, [profile]).first.map { try DocumentCounts($0) } ?? DocumentCounts()
    }

    /// Counts a change.
    ///
    /// - Parameter isListed: whether it is one of the list of saved documents, or of the trash.
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

/// What a profile has, as ``DocumentStore`` counts it by triggers.
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

    /// Nothing.
    init() {}

    /// One document.
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

    /// What of it a quota counts.
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
