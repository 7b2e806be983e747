import Foundation
import GRDB

extension NoteStore {
    /// Inserts a note of a test's document.
    ///
    /// - Returns: its account; nil if there is none of that name.
    static func seed(
        _ body: String,
        at location: Note.Location,
        of owner: UserName,
        created: Date,
        modified: Date,
        _ db: Database
    ) throws -> Int64? {
        let sql = "SELECT id FROM notes_account WHERE name_folded = ? LIMIT 1"
        guard let account = try Int64.fetchOne(try db.cachedStatement(sql: sql), arguments: [owner.key]) else {
            return nil
        }
        _ = try insert(body, at: location, account: account, now: modified, created: created, db)
        return account
    }
}
