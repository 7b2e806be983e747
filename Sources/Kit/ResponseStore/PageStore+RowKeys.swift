import Database
public import GRDB

extension PageStore {
    /// Takes a row off all lists of an account; those lists that know their total count one less.
    public func remove(rowKey: String, account: String, in db: Database) throws {
        // First the totals: all pages of a list share one, also the pages that the row is not on.
        try db.cachedStatement(sql: Self.decrementTotals).execute(arguments: [account, rowKey])
        try db.cachedStatement(sql: Self.deleteRow).execute(arguments: [account, rowKey])
    }

    /// Takes a row off the lists of one screen, whatever they were asked for; those that know their total count one
    /// less.
    public func remove(rowKey: String, account: String, screen: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.decrementTotalsOfScreen).execute(arguments: [account, rowKey, screen])
        try db.cachedStatement(sql: Self.deleteRowOfScreen).execute(arguments: [account, rowKey, screen])
    }

    /// Takes a row and everything below it off all lists of an account, as when a folder is deleted: keys that begin
    /// with `prefix`. Totals stay.
    public func remove(rowKeysWithPrefix prefix: String, account: String, in db: Database) throws {
        guard let end = KeyPrefix(prefix).end else { return }
        try db.cachedStatement(sql: Self.deletePrefix).execute(arguments: [account, prefix, end])
    }

    /// Gives a row another key on all lists of an account, as when a file is renamed.
    public func replace(rowKey: String, by newKey: String, account: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.updateRow).execute(arguments: [newKey, account, rowKey])
    }

    /// Puts `newPrefix` in place of `prefix` in all keys of an account that begin with it, as when a folder is renamed:
    /// one statement.
    ///
    /// - Parameter prefix: Not empty. End it with the separator, or `/a` takes `/ab` along.
    public func replace(rowKeyPrefix prefix: String, by newPrefix: String, account: String, in db: Database) throws {
        guard let end = KeyPrefix(prefix).end else { return }
        try db.cachedStatement(sql: Self.updatePrefix)
            .execute(arguments: [newPrefix, prefix.unicodeScalars.count + 1, account, prefix, end])
    }

    /// Removes all pages of one list, as when its upstream said that it is gone.
    public func remove(account: String, screen: String, query: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteList).execute(arguments: [account, screen, query])
    }

    /// Removes all pages of an account.
    public func remove(account: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteAccount).execute(arguments: [account])
    }

    static let decrementTotals = """
        UPDATE page SET total = max(total - 1, 0)
        WHERE total IS NOT NULL AND id IN (
            SELECT other.id FROM page_row
            JOIN page AS holder ON holder.id = page_row.page_id
            JOIN page AS other ON other.account = holder.account AND other.screen = holder.screen AND other.query = holder.query
            WHERE page_row.account = ? AND page_row.row_key = ?
        )
        """
    static let deleteRow = "DELETE FROM page_row WHERE account = ? AND row_key = ?"
    static let decrementTotalsOfScreen = """
        UPDATE page SET total = max(total - 1, 0)
        WHERE total IS NOT NULL AND id IN (
            SELECT other.id FROM page_row
            JOIN page AS holder ON holder.id = page_row.page_id
            JOIN page AS other ON other.account = holder.account AND other.screen = holder.screen AND other.query = holder.query
            WHERE page_row.account = ? AND page_row.row_key = ? AND holder.screen = ?
        )
        """
    static let deleteRowOfScreen = """
        DELETE FROM page_row WHERE account = ? AND row_key = ? AND (SELECT screen FROM page WHERE page.id = page_row.page_id) = ?
        """
    static let deletePrefix = "DELETE FROM page_row WHERE account = ? AND row_key >= ? AND row_key < ?"
    static let updateRow = "UPDATE page_row SET row_key = ? WHERE account = ? AND row_key = ?"
    static let updatePrefix =
        "UPDATE page_row SET row_key = ? || substr(row_key, ?) WHERE account = ? AND row_key >= ? AND row_key < ?"
    static let deleteList = "DELETE FROM page WHERE account = ? AND screen = ? AND query = ?"
    static let deleteAccount = "DELETE FROM page WHERE account = ?"
}
