package import Foundation
package import GRDB

/// Stores the page lists of all screens: which rows an upstream sent, in which order, when.
///
/// The rows are the apps'. All functions run in the transaction of their `Database`, so that a row and the lists that
/// name it change together.
package struct PageStore: Sendable {
    /// Creates a store. It uses the tables of the database that is passed to each function.
    package init() {}

    /// Returns the page of a key. Another limit or offset is another page.
    package func page(_ key: PageKey, in db: Database) throws -> PageList? {
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
    package func ending(_ key: PageKey, containing rowKey: String, in db: Database) throws -> (
        hasMore: Bool, contains: Bool
    )? {
        try Row.fetchOne(
            db.cachedStatement(sql: Self.selectEnding),
            arguments: [key.account, rowKey, key.account, key.screen, key.query, key.offset, key.limit]
        ).map { try ($0.value(0), $0.value(1)) }
    }

    /// Stores a page and replaces that of the same key. All other pages stay.
    package func save(_ page: PageList, in db: Database) throws {
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
    func touch(_ accessRecorder: [PageKey: Date], in db: Database) throws {
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

/// The key of a page list.
package struct PageKey: Hashable, Sendable {
    /// The account, app first, such as `disk/1130`, `shop/local`. Keys of rows are unique within it.
    package var account: String
    /// The list, such as `recent`.
    package var screen: String
    /// The query in a normal form, so that equal queries share a page. Empty for lists without a query.
    package var query: String
    /// Position of the first requested row.
    package var offset: Int
    /// The most rows requested.
    package var limit: Int

    package init(account: String, screen: String, query: String = "", offset: Int, limit: Int) {
        self.account = account
        self.screen = screen
        self.query = query
        self.offset = offset
        self.limit = limit
    }
}

/// One page of a list as the upstream sent it: keys of rows that apps store.
package struct PageList: Sendable, Equatable {
    package var key: PageKey
    /// Keys of the rows in the upstream's order, without those deleted since.
    package var rowKeys: [String]
    /// Number of rows on all pages; nil if the upstream does not say.
    package var total: Int?
    /// Whether a page follows. Stored, because after a deletion it does not follow from the count of rows.
    package var hasMore: Bool
    /// When it was fetched, to the millisecond.
    package var fetchedAt: Date
    /// When its keys or its total last changed; not when the rows of its keys changed.
    package var changedAt: Date

    /// - Parameter changedAt: Nil: when it was fetched.
    package init(
        key: PageKey,
        rowKeys: [String],
        total: Int?,
        hasMore: Bool,
        fetchedAt: Date,
        changedAt: Date? = nil
    ) {
        self.key = key
        self.rowKeys = rowKeys
        self.total = total
        self.hasMore = hasMore
        self.fetchedAt = fetchedAt
        self.changedAt = changedAt ?? fetchedAt
    }
}

extension PageStore {
    /// Removes a row from all lists of an account and decrements the totals of the lists.
    package func remove(rowKey: String, account: String, at now: Date, in db: Database) throws {
        // The totals first: all pages of a list have one, also pages without the row.
        try db.cachedStatement(sql: Self.decrementTotals)
            .execute(arguments: [now.millisecondsSince1970, account, rowKey])
        try db.cachedStatement(sql: Self.deleteRow).execute(arguments: [account, rowKey])
    }

    /// Removes a row from the lists of one screen, for any query, and decrements their totals.
    package func remove(rowKey: String, account: String, screen: String, at now: Date, in db: Database) throws {
        try db.cachedStatement(sql: Self.decrementTotalsOfScreen)
            .execute(arguments: [now.millisecondsSince1970, account, rowKey, screen])
        try db.cachedStatement(sql: Self.deleteRowOfScreen).execute(arguments: [account, rowKey, screen])
    }

    /// Removes rows whose keys begin with `prefix` from all lists of an account, as if a folder is deleted. Totals
    /// stay.
    package func remove(rowKeysWithPrefix prefix: String, account: String, at now: Date, in db: Database) throws {
        guard let end = KeyPrefix(prefix).end else { return }
        try db.cachedStatement(sql: Self.touchPrefix)
            .execute(arguments: [now.millisecondsSince1970, account, prefix, end])
        try db.cachedStatement(sql: Self.deletePrefix).execute(arguments: [account, prefix, end])
    }

    /// Replaces the key of a row on all lists of an account, as if a file is renamed.
    package func replace(rowKey: String, by newKey: String, account: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.updateRow).execute(arguments: [newKey, account, rowKey])
    }

    /// Replaces `prefix` by `newPrefix` in all keys of an account that begin with it, as if a folder is renamed, in one
    /// statement.
    ///
    /// - Parameter prefix: Not empty. It should end with the separator, or `/a` includes `/ab`.
    package func replace(rowKeyPrefix prefix: String, by newPrefix: String, account: String, in db: Database) throws {
        guard let end = KeyPrefix(prefix).end else { return }
        try db.cachedStatement(sql: Self.updatePrefix)
            .execute(arguments: [newPrefix, prefix.unicodeScalars.count + 1, account, prefix, end])
    }

    package func remove(account: String, in db: Database) throws {
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
    static let deleteAccount = "DELETE FROM page WHERE account = ?"

    // Each row has the account, too, so that a key, or all keys below a folder, are found by one index on all pages.
    static let migrations = [
        SchemaMigration(
            "storage/003 pages",
            sql: """
                CREATE TABLE page (
                    id INTEGER PRIMARY KEY,
                    account TEXT NOT NULL,
                    screen TEXT NOT NULL,
                    query TEXT NOT NULL,
                    page_offset INTEGER NOT NULL,
                    page_limit INTEGER NOT NULL,
                    total INTEGER,
                    has_more INTEGER NOT NULL,
                    fetched_at INTEGER NOT NULL,    -- milliseconds since 1970 UTC, as all times
                    size INTEGER NOT NULL,          -- bytes that deleting it would free, about
                    last_used INTEGER NOT NULL,
                    UNIQUE (account, screen, query, page_offset, page_limit)
                ) STRICT;

                CREATE INDEX page_by_last_use ON page (last_used, size);

                CREATE TABLE page_row (
                    page_id INTEGER NOT NULL REFERENCES page (id) ON DELETE CASCADE,
                    position INTEGER NOT NULL,
                    account TEXT NOT NULL,
                    row_key TEXT NOT NULL,
                    PRIMARY KEY (page_id, position)
                ) STRICT, WITHOUT ROWID;

                CREATE INDEX page_row_by_key ON page_row (account, row_key);
                """
        )
    ]

    /// After the other tables, because eviction has changed the table in between.
    static let changeTime = [
        SchemaMigration(
            "storage/011 page changes",
            sql: """
                ALTER TABLE page ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0; -- when keys or total last changed
                UPDATE page SET changed_at = fetched_at;
                """
        )
    ]
}

extension [String] {
    /// The texts as a JSON array (RFC 8259), for `json_each`. A general encoder takes longer for it than the query.
    package var jsonArray: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(reduce(2) { $0 + $1.utf8.count + 3 })
        for text in self {
            bytes.append(UInt8(ascii: bytes.isEmpty ? "[" : ","))
            Self.appendQuoted(text, to: &bytes)
        }
        if isEmpty { bytes.append(UInt8(ascii: "[")) }
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        bytes.append(quote)
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == quote || $0 == backslash }) else {
            bytes.append(contentsOf: text.utf8)
            return bytes.append(quote)
        }
        for byte in text.utf8 {
            if byte < 0x20 {
                bytes.append(contentsOf: "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            } else {
                if byte == quote || byte == backslash { bytes.append(backslash) }
                bytes.append(byte)
            }
        }
        bytes.append(quote)
    }
}

extension Sequence where Element: BinaryInteger {
    /// The numbers as a JSON array, for `json_each` in SQL.
    package var jsonArray: String { "[" + map { String($0) }.joined(separator: ",") + "]" }
}

/// A prefix as a range of an index: all texts from ``start`` up to, but without, ``end`` begin with it, and no others.
///
/// SQLite compares text by its UTF-8 bytes, which is the order of code points.
struct KeyPrefix {
    let start: String

    init(_ start: String) {
        self.start = start
    }

    /// The first text after all that begin with the prefix; nil if there is none, as for the empty prefix.
    var end: String? {
        var scalars = Array(start.unicodeScalars)
        while let last = scalars.popLast() {
            if let next = Self.next(after: last) {
                scalars.append(next)
                return String(String.UnicodeScalarView(scalars))
            }
        }
        return nil
    }

    private static func next(after scalar: Unicode.Scalar) -> Unicode.Scalar? {
        // U+D800 to U+DFFF are surrogates.
        Unicode.Scalar(scalar.value + 1) ?? (scalar.value == 0xD7FF ? Unicode.Scalar(0xE000) : nil)
    }
}
