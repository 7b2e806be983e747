import Database
public import Foundation
public import GRDB

extension PageStore {
    /// Removes a row from all lists of an account and decrements the totals of the lists.
    ///
    /// - Throws: Errors of the database.
    public func remove(rowKey: String, account: String, at now: Date, in db: Database) throws {
        // The totals first: all pages of a list have one, also pages without the row.
        try db.cachedStatement(sql: Self.decrementTotals)
            .execute(arguments: [now.millisecondsSince1970, account, rowKey])
        try db.cachedStatement(sql: Self.deleteRow).execute(arguments: [account, rowKey])
    }

    /// Removes a row from the lists of one screen, for any query, and decrements their totals.
    ///
    /// - Throws: Errors of the database.
    public func remove(rowKey: String, account: String, screen: String, at now: Date, in db: Database) throws {
        try db.cachedStatement(sql: Self.decrementTotalsOfScreen)
            .execute(arguments: [now.millisecondsSince1970, account, rowKey, screen])
        try db.cachedStatement(sql: Self.deleteRowOfScreen).execute(arguments: [account, rowKey, screen])
    }

    /// Removes rows whose keys begin with `prefix` from all lists of an account, as if a folder is deleted. Totals
    /// stay.
    ///
    /// - Throws: Errors of the database.
    public func remove(rowKeysWithPrefix prefix: String, account: String, at now: Date, in db: Database) throws {
        guard let end = KeyPrefix(prefix).end else { return }
        try db.cachedStatement(sql: Self.touchPrefix)
            .execute(arguments: [now.millisecondsSince1970, account, prefix, end])
        try db.cachedStatement(sql: Self.deletePrefix).execute(arguments: [account, prefix, end])
    }

    /// Replaces the key of a row on all lists of an account, as if a file is renamed.
    ///
    /// - Throws: Errors of the database.
    public func replace(rowKey: String, by newKey: String, account: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.updateRow).execute(arguments: [newKey, account, rowKey])
    }

    /// Replaces `prefix` by `newPrefix` in all keys of an account that begin with it, as if a folder is renamed, in one
    /// statement.
    ///
    /// - Parameter prefix: Not empty. It should end with the separator, or `/a` includes `/ab`.
    /// - Throws: Errors of the database.
    public func replace(rowKeyPrefix prefix: String, by newPrefix: String, account: String, in db: Database) throws {
        guard let end = KeyPrefix(prefix).end else { return }
        try db.cachedStatement(sql: Self.updatePrefix)
            .execute(arguments: [newPrefix, prefix.unicodeScalars.count + 1, account, prefix, end])
    }

    /// Removes all pages of one list, as if its upstream had said that it does not exist.
    ///
    /// - Throws: Errors of the database.
    public func remove(account: String, screen: String, query: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteList).execute(arguments: [account, screen, query])
    }

    /// Removes all pages of an account.
    ///
    /// - Throws: Errors of the database.
    public func remove(account: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteAccount).execute(arguments: [account])
    }

    static let decrementTotals = decrement(further: "")
    static let decrementTotalsOfScreen = decrement(further: " AND holder.screen = ?")
    private static func decrement(further condition: String) -> String {
        """
        UPDATE page SET total = max(total - 1, 0), changed_at = max(changed_at, ?)
        WHERE id IN (
            SELECT other.id FROM page_row
            JOIN page AS holder ON holder.id = page_row.page_id
            JOIN page AS other
                ON other.account = holder.account AND other.screen = holder.screen AND other.query = holder.query
            WHERE page_row.account = ? AND page_row.row_key = ?\(condition)
        )
        """
    }
    static let deleteRow = "DELETE FROM page_row WHERE account = ? AND row_key = ?"
    static let deleteRowOfScreen = """
        DELETE FROM page_row WHERE account = ? AND row_key = ?
            AND (SELECT screen FROM page WHERE page.id = page_row.page_id) = ?
        """
    static let touchPrefix = """
        UPDATE page SET changed_at = max(changed_at, ?) WHERE id IN (
            SELECT page_id FROM page_row WHERE account = ? AND row_key >= ? AND row_key < ?
        )
        """
    static let deletePrefix = "DELETE FROM page_row WHERE account = ? AND row_key >= ? AND row_key < ?"
    static let updateRow = "UPDATE page_row SET row_key = ? WHERE account = ? AND row_key = ?"
    static let updatePrefix =
        "UPDATE page_row SET row_key = ? || substr(row_key, ?) WHERE account = ? AND row_key >= ? AND row_key < ?"
    static let deleteList = "DELETE FROM page WHERE account = ? AND screen = ? AND query = ?"
    static let deleteAccount = "DELETE FROM page WHERE account = ?"
}
