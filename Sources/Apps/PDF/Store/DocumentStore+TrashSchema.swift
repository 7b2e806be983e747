import Database
import Foundation
import GRDB

extension DocumentStore {
    /// The trash. The list, its index and its count are without what is in there.
    static let trashTables = """
        ALTER TABLE pdf_document ADD COLUMN trashed INTEGER; -- when it was moved to the trash; NULL: it was not
        DROP INDEX pdf_document_by_age;
        CREATE INDEX pdf_document_by_age ON pdf_document (profile, created DESC, sequence DESC)
            WHERE draft_until IS NULL AND trashed IS NULL;
        CREATE INDEX pdf_document_by_deletion ON pdf_document (profile, trashed DESC, sequence DESC)
            WHERE trashed IS NOT NULL;
        CREATE INDEX pdf_document_by_trash_age ON pdf_document (trashed) WHERE trashed IS NOT NULL;

        ALTER TABLE pdf_profile ADD COLUMN trashed INTEGER NOT NULL DEFAULT 0; -- documents in the trash
        CREATE TRIGGER pdf_document_trashed AFTER UPDATE OF trashed ON pdf_document
        WHEN old.trashed IS NULL AND new.trashed IS NOT NULL BEGIN
            UPDATE pdf_profile SET saved = saved - 1, trashed = trashed + 1 WHERE profile = new.profile;
        END;
        CREATE TRIGGER pdf_document_restored AFTER UPDATE OF trashed ON pdf_document
        WHEN old.trashed IS NOT NULL AND new.trashed IS NULL BEGIN
            UPDATE pdf_profile SET saved = saved + 1, trashed = trashed - 1 WHERE profile = new.profile;
        END;
        DROP TRIGGER pdf_document_removed;
        CREATE TRIGGER pdf_document_removed AFTER DELETE ON pdf_document
        WHEN old.draft_until IS NULL AND old.trashed IS NULL BEGIN
            UPDATE pdf_profile SET saved = saved - 1 WHERE profile = old.profile;
        END;
        CREATE TRIGGER pdf_document_purged AFTER DELETE ON pdf_document WHEN old.trashed IS NOT NULL BEGIN
            UPDATE pdf_profile SET trashed = trashed - 1 WHERE profile = old.profile;
        END;
        """

    static let moveToTrash = "UPDATE pdf_document SET trashed = ? WHERE sequence = ?"
    static let selectTrashed = "SELECT revision, trashed FROM pdf_profile WHERE profile = ?"
    static let selectTrashedDocument =
        "SELECT * FROM pdf_document WHERE id = ? AND profile = ? AND trashed IS NOT NULL"

    static let selectTrash = "\(selectTrashRows) \(inOrder) OFFSET :offset"
    static let selectTrashAfterKey =
        "\(selectTrashRows) AND (trashed, sequence) < (:trashed, :sequence) \(inOrder)"
    private static let selectTrashRows = "SELECT * FROM pdf_document WHERE profile = :profile AND trashed IS NOT NULL"
    private static let inOrder = "ORDER BY trashed DESC, sequence DESC LIMIT :limit"

    static let selectDue = """
        SELECT sequence, profile FROM pdf_document WHERE trashed IS NOT NULL AND trashed <= :time
        ORDER BY trashed LIMIT :limit
        """
    static let selectDueOfProfile = """
        SELECT sequence, profile FROM pdf_document
        WHERE profile = :profile AND trashed IS NOT NULL AND trashed <= :time ORDER BY trashed DESC LIMIT :limit
        """
}
