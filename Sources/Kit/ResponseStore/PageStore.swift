import Database
public import Foundation
public import GRDB

/// Stores the page lists of all screens: which rows an upstream sent, in which order, when.
///
/// The rows are the apps'. All functions run in the transaction of their `Database`, so that a row and the lists that
/// name it change together.
public struct PageStore: Sendable {
    /// Creates a store. It uses the tables of the database that is passed to each function.
    public init() {}

    /// Returns the page of a key. Another limit or offset is another page.
    ///
    /// - Throws: Errors of the database.
    public func page(_ key: PageKey, in db: Database) throws -> PageList? {
        guard
            let row = try Row.fetchOne(
                db.cachedStatement(sql: Self.selectPage),
                arguments: [key.account, key.screen, key.query, key.offset, key.limit]
            )
        else { return nil }
        let rowKeys = try String.fetchAll(db.cachedStatement(sql: Self.selectRows), arguments: [row.value(0) as Int64])
        return try PageList(
            key: key,
            rowKeys: rowKeys,
            total: row.value(1),
            hasMore: row.value(2),
            fetchedAt: row.date(3),
            changedAt: row.date(4)
        )
    }

    /// Returns whether rows follow a page, and whether a row of it has a key; nil if the page is not stored. Its other
    /// rows are not read.
    ///
    /// - Throws: Errors of the database.
    public func ending(_ key: PageKey, containing rowKey: String, in db: Database) throws -> (
        hasMore: Bool, contains: Bool
    )? {
        try Row.fetchOne(
            db.cachedStatement(sql: Self.selectEnding),
            arguments: [key.account, rowKey, key.account, key.screen, key.query, key.offset, key.limit]
        ).map { try ($0.value(0), $0.value(1)) }
    }

    /// Stores a page and replaces that of the same key. All other pages stay.
    ///
    /// - Throws: Errors of the database.
    public func save(_ page: PageList, in db: Database) throws {
        let key = page.key
        let time = page.fetchedAt.millisecondsSince1970
        let size = page.rowKeys.reduce(key.query.utf8.count) { $0 + $1.utf8.count }
        let upsert = try db.cachedStatement(sql: Self.upsertPage)
        try upsert.setArguments([
            key.account, key.screen, key.query, key.offset, key.limit, page.total, page.hasMore, time, size, time,
            page.changedAt.millisecondsSince1970,
        ])
        for id in try Int64.fetchAll(upsert) {
            try db.cachedStatement(sql: "DELETE FROM page_row WHERE page_id = ?").execute(arguments: [id])
            let insert = try db.cachedStatement(
                sql: "INSERT INTO page_row (page_id, position, account, row_key) VALUES (?, ?, ?, ?)"
            )
            for (position, rowKey) in page.rowKeys.enumerated() {
                try insert.execute(arguments: [id, position, key.account, rowKey])
            }
        }
    }

    /// Records when pages last served a request. A use older than the recorded one changes nothing.
    ///
    /// - Throws: Errors of the database.
    public func touch(_ accessRecorder: [PageKey: Date], in db: Database) throws {
        let statement = try db.cachedStatement(sql: Self.updateLastUse)
        for (key, date) in accessRecorder {
            let time = date.millisecondsSince1970
            try statement.execute(arguments: [time, key.account, key.screen, key.query, key.offset, key.limit, time])
        }
    }

    static let selectPage = """
        SELECT id, total, has_more, fetched_at, changed_at FROM page
        WHERE account = ? AND screen = ? AND query = ? AND page_offset = ? AND page_limit = ?
        """

    static let selectEnding = """
        SELECT has_more, EXISTS (SELECT 1 FROM page_row WHERE account = ? AND row_key = ? AND page_id = page.id)
        FROM page WHERE account = ? AND screen = ? AND query = ? AND page_offset = ? AND page_limit = ?
        """

    static let selectRows = "SELECT row_key FROM page_row WHERE page_id = ? ORDER BY position"

    static let upsertPage = """
        INSERT INTO page (
            account, screen, query, page_offset, page_limit, total, has_more, fetched_at, size, last_used, changed_at
        )
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (account, screen, query, page_offset, page_limit) DO UPDATE SET
            total = excluded.total, has_more = excluded.has_more, fetched_at = excluded.fetched_at,
            size = excluded.size, last_used = max(last_used, excluded.last_used), changed_at = excluded.changed_at
        RETURNING id
        """

    static let updateLastUse = """
        UPDATE page SET last_used = ?
        WHERE account = ? AND screen = ? AND query = ? AND page_offset = ? AND page_limit = ? AND last_used < ?
        """
}
