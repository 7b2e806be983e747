import Foundation
import GRDB

extension NoteStore {
    /// Inserts a note of a test's document.
    ///
    /// - Returns: its account; nil if there is none of that name.
    static func seed(_ changes: NoteChanges, of owner: UserName, created: Date, modified: Date, _ db: Database) throws
        -> Int64?
    {
        let sql = "SELECT id FROM notes_account WHERE name_folded = ? LIMIT 1"
        guard let account = try Int64.fetchOne(try db.cachedStatement(sql: sql), arguments: [owner.key]) else {
            return nil
        }
        let location = changes.location ?? .unknown
        _ = try insert(changes.body ?? "", at: location, account: account, now: modified, created: created, db)
        return account
    }
}
