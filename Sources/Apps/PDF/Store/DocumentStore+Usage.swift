import Database
import GRDB
import Screens

extension DocumentStore {
    /// What a document counts beside its file: rows of it and its pages, and the end of a block of the disk.
    static let bytesBeside = 4096

    /// What each profile stores, kept by triggers: a quota is checked with each write.
    static let usageCounters = """
        ALTER TABLE pdf_profile ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0; -- of all its documents
        ALTER TABLE pdf_profile ADD COLUMN draft_bytes INTEGER NOT NULL DEFAULT 0; -- those of them that are drafts
        ALTER TABLE pdf_profile ADD COLUMN trash_bytes INTEGER NOT NULL DEFAULT 0; -- those of them in the trash
        INSERT INTO pdf_profile (profile, seen, revision, bytes, draft_bytes, trash_bytes)
            SELECT profile, 0, 0, sum(\(size(of: "pdf_document"))), sum(\(draft(of: "pdf_document"))),
                sum(\(trash(of: "pdf_document")))
            FROM pdf_document WHERE true GROUP BY profile
            ON CONFLICT (profile) DO UPDATE SET
                bytes = excluded.bytes, draft_bytes = excluded.draft_bytes, trash_bytes = excluded.trash_bytes;

        CREATE TRIGGER pdf_document_stored AFTER INSERT ON pdf_document BEGIN
            INSERT INTO pdf_profile (profile, seen, revision, bytes, draft_bytes)
                VALUES (new.profile, 0, 0, \(size(of: "new")), \(draft(of: "new")))
                ON CONFLICT (profile) DO UPDATE SET
                    bytes = bytes + excluded.bytes, draft_bytes = draft_bytes + excluded.draft_bytes;
        END;
        CREATE TRIGGER pdf_document_resized AFTER UPDATE OF length, draft_until, trashed ON pdf_document BEGIN
            UPDATE pdf_profile SET
                bytes = bytes + \(size(of: "new")) - \(size(of: "old")),
                draft_bytes = draft_bytes + \(draft(of: "new")) - \(draft(of: "old")),
                trash_bytes = trash_bytes + \(trash(of: "new")) - \(trash(of: "old"))
            WHERE profile = new.profile;
        END;
        CREATE TRIGGER pdf_document_unstored AFTER DELETE ON pdf_document BEGIN
            UPDATE pdf_profile SET
                bytes = bytes - \(size(of: "old")), draft_bytes = draft_bytes - \(draft(of: "old")),
                trash_bytes = trash_bytes - \(trash(of: "old"))
            WHERE profile = old.profile;
        END;
        """

    /// Returns what a profile stores.
    func usage(profile: String) throws -> StorageUsage {
        try database.read { try Self.usage(of: profile, $0) }
    }

    static func usage(of profile: String, _ db: Database) throws -> StorageUsage {
        let sql = "SELECT bytes, trash_bytes, draft_bytes FROM pdf_profile WHERE profile = ?"
        let row = try Row.fetchOne(try db.cachedStatement(sql: sql), arguments: [profile])
        return try StorageUsage(bytes: row?.size(0) ?? 0, trash: row?.size(1) ?? 0, drafts: row?.size(2) ?? 0)
    }

    private static func size(of row: String) -> String { "(\(row).length + \(bytesBeside))" }
    private static func draft(of row: String) -> String { "iif(\(row).draft_until IS NULL, 0, \(size(of: row)))" }
    private static func trash(of row: String) -> String { "iif(\(row).trashed IS NULL, 0, \(size(of: row)))" }
}
