import Concurrency
import Foundation
import GRDB
import Storage
import Upstream

/// The rows of a ``CachedList``. They are a copy of the API's: each server has its own.
///
/// The revision of a change is at least the time in milliseconds. A client that changes to another server may therefore
/// get a change twice, but misses none.
struct CachedListStore<Item: ListedItem>: Sendable {
    /// The stored values of an item.
    struct Columns: Equatable, Sendable {
        let rank: Int
        let sortKey: String
        let search: String
        let item: String
    }

    /// A page of the list, of one state.
    struct Page: Sendable {
        var items: ListPage<Item>
        let revision: Int
        let changes: ListChanges
        /// The words that rows were searched for in place of those of the text; nil if they were those.
        var variant: SearchVariant?
    }

    /// The removed rows that are remembered, so that the changes since an earlier revision name them.
    private static var rememberedRemovals: Int { 1000 }

    let database: LarderDatabase
    let order: CachedList<Item>.Order
    let clock: WallClock
    let contentChanges = VersionCounter()
    private let table: String
    private let state: String

    init(of app: String, _ database: LarderDatabase, order: CachedList<Item>.Order, clock: WallClock) {
        (self.database, self.order, self.clock) = (database, order, clock)
        (table, state) = Self.tables(of: app)
    }

    private static func tables(of app: String) -> (table: String, state: String) {
        ("\(app)_item".quotedDatabaseIdentifier, "\(app)_list".quotedDatabaseIdentifier)
    }

    /// The tables of an app. `rank`, `sort_key` and `id` give the order.
    static func migration(of app: String) -> SchemaMigration {
        let (table, state) = tables(of: app)
        return SchemaMigration(
            "\(app)/001 list",
            sql: """
                CREATE TABLE \(table) (
                    id TEXT NOT NULL PRIMARY KEY,
                    rank INTEGER NOT NULL,
                    sort_key TEXT NOT NULL,
                    search TEXT NOT NULL, -- the names, as searches compare them
                    item TEXT NOT NULL, -- JSON
                    added_revision INTEGER NOT NULL,
                    changed_revision INTEGER NOT NULL,
                    removed_revision INTEGER
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX \("\(app)_item_by_order".quotedDatabaseIdentifier) ON \(table) (rank, sort_key, id)
                    WHERE removed_revision IS NULL;
                CREATE INDEX \("\(app)_item_by_change".quotedDatabaseIdentifier) ON \(table) (changed_revision);
                CREATE TABLE \(state) (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    revision INTEGER NOT NULL,
                    forgotten INTEGER NOT NULL -- last revision whose removals are no longer remembered
                ) STRICT;
                INSERT INTO \(state) (one, revision, forgotten) VALUES (1, 0, 0);
                """
        )
    }

    static func record(of app: String) -> RecordTable {
        RecordTable("\(app)_item") { row in
            // Of any form: an earlier build may have stored the removed row.
            let _: Tolerant<Item> = try row.json("item")
            let _: [Int] = [try row.size("added_revision"), try row.size("changed_revision")]
        }
    }
}

// MARK: Reading

extension CachedListStore {
    /// The most rows whose names other words are taken from.
    private static var mostNames: Int { 5000 }

    /// Reads a page of the rows whose names have all words.
    ///
    /// - Parameter since: The revision that changes are counted from; nil for the one before the current one.
    func page(_ db: Database, _ page: PageRequest, words: [String], since: Int?) throws -> Page {
        var (condition, arguments): (String, StatementArguments) = ("removed_revision IS NULL", [:])
        for (index, word) in words.enumerated() {
            condition += " AND instr(search, :word\(index)) > 0"
            arguments += ["word\(index)": word]
        }
        return try self.page(db, page, condition, arguments, since: since)
    }

    /// Reads a page of the rows whose names have all words; if no name has them, of those with other words.
    func pageOrVariant(_ db: Database, _ page: PageRequest, words: [String], since: Int?) throws -> Page {
        let plain = try self.page(db, page, words: words, since: since)
        guard plain.items.total == 0, !words.isEmpty else { return plain }
        let names = "SELECT search FROM \(table) WHERE removed_revision IS NULL LIMIT \(Self.mostNames)"
        let texts = try String.fetchAll(db, sql: names)
        let stored = StoredWords(of: texts)
        let text = words.joined(separator: " ")
        let other = try SearchVariants.first(for: text, among: stored) { variant -> Page? in
            // The rows are read only for words that a name has.
            guard texts.contains(where: variant.matches) else { return nil }
            let condition = "removed_revision IS NULL AND \(SearchVariant.condition(on: "search"))"
            var found = try self.page(db, page, condition, ["variant": variant.json], since: since)
            found.variant = variant
            return found.items.total == 0 ? nil : found
        }
        return other?.found ?? plain
    }

    private func page(
        _ db: Database,
        _ page: PageRequest,
        _ condition: String,
        _ arguments: StatementArguments,
        since: Int?
    ) throws -> Page {
        let current = try Row.fetchOne(db, sql: "SELECT revision, forgotten FROM \(state)")
        let revision: Int = try current?.size(0) ?? 0
        var start = ListChanges.start(since, now: revision)
        if try start < current?.size(1) ?? 0 { start = 0 }
        let matching = "\(table) WHERE \(condition)"
        let query = PagedQuery("SELECT item, rank, sort_key, id FROM \(matching)", by: ["rank", "sort_key", "id"])
        var items = try query.page(page, arguments, db) { try $0.json("item") as Item }
        items.total = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(matching)", arguments: arguments)
        let changed = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, added_revision, changed_revision, removed_revision, 0, 0 FROM \(table)
                WHERE changed_revision > ? ORDER BY changed_revision, id LIMIT ?
                """,
            arguments: [start, page.limit + 1]
        )
        let changes = try ListChanges(since: start, changed, limit: page.limit)
        return Page(items: items, revision: revision, changes: changes)
    }

    /// Returns an item; nil if the list has none with the id.
    func item(_ id: String, _ db: Database) throws -> Item? {
        try Row.fetchOne(
            db,
            sql: "SELECT item FROM \(table) WHERE id = ? AND removed_revision IS NULL",
            arguments: [id]
        )
        .map { try $0.json("item") }
    }
}

// MARK: Writing

extension CachedListStore {
    /// Returns the values to store of the items of a response, made before the transaction that stores them.
    ///
    /// - Throws: ``UnusableResponse`` if an item has a number that JSON has not.
    func columns(of items: [Item]) throws(UnusableResponse) -> [(id: String, columns: Columns)] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var all: [(id: String, columns: Columns)] = []
        for (index, item) in items.enumerated() {
            guard let json = try? encoder.encode(item) else { throw UnusableResponse("an item that is no JSON") }
            let columns = Columns(
                rank: order == .listed ? index : 0,
                sortKey: order == .byName ? item.name.english.searchFolded.cutToKey : "",
                search: Set([item.name.english.searchFolded, item.name.russian.searchFolded]).sorted()
                    .joined(separator: "\n"),
                item: String(decoding: json, as: UTF8.self)
            )
            all.append((item.id, columns))
        }
        return all
    }

    /// Returns the write of the items of a response.
    ///
    /// - Parameter changed: Called with the new revision after the commit of a change.
    /// - Throws: ``UnusableResponse``.
    func persistRows(
        of items: [Item],
        changed: @escaping @Sendable (_ revision: Int) -> Void
    ) throws(UnusableResponse) -> Resource.PersistRows {
        let rows = try columns(of: items)
        return Resource.PersistRows { db in
            guard let revision = try merge(rows, db) else { return }
            contentChanges.bump(afterCommitOf: db)
            db.afterNextTransaction { _ in changed(revision) }
        }
    }

    /// Makes the rows those of a response.
    ///
    /// - Returns: The revision of the change; nil if nothing has changed.
    func merge(_ rows: [(id: String, columns: Columns)], _ db: Database) throws -> Int? {
        let last = try Int.fetchOne(db, sql: "SELECT revision FROM \(state)") ?? 0
        let revision = max(last + 1, Int(clock.now().millisecondsSince1970))
        var stored: [String: Columns] = [:]
        let present = try Row.fetchCursor(
            db,
            sql: "SELECT id, rank, sort_key, search, item FROM \(table) WHERE removed_revision IS NULL"
        )
        while let row = try present.next() {
            stored[try row.value(0)] = try Columns(
                rank: row.value(1),
                sortKey: row.value(2),
                search: row.value(3),
                item: row.value(4)
            )
        }
        var isChanged = false
        for (id, columns) in rows {
            let known = stored.removeValue(forKey: id)
            guard known != columns else { continue }
            isChanged = true
            try write(columns, of: id, at: revision, isMoved: known?.item == columns.item, db)
        }
        for id in stored.keys.sorted() {
            isChanged = true
            try db.execute(
                sql: "UPDATE \(table) SET removed_revision = ?1, changed_revision = ?1 WHERE id = ?2",
                arguments: [revision, id]
            )
        }
        guard isChanged else { return nil }
        try db.execute(sql: "UPDATE \(state) SET revision = ?", arguments: [revision])
        try forgetRemovals(db)
        return revision
    }

    /// - Parameter isMoved: Whether only the order has changed, or the name that the program gives to the item.
    private func write(_ row: Columns, of id: String, at revision: Int, isMoved: Bool, _ db: Database) throws {
        if isMoved {
            try db.execute(
                sql: "UPDATE \(table) SET rank = ?, sort_key = ?, search = ? WHERE id = ?",
                arguments: [row.rank, row.sortKey, row.search, id]
            )
            return
        }
        try db.cachedStatement(
            sql: """
                INSERT INTO \(table) (id, rank, sort_key, search, item, added_revision, changed_revision)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
                ON CONFLICT (id) DO UPDATE SET rank = ?2, sort_key = ?3, search = ?4, item = ?5, changed_revision = ?6,
                    added_revision = iif(removed_revision IS NULL, added_revision, ?6), removed_revision = NULL
                """
        )
        .execute(arguments: [id, row.rank, row.sortKey, row.search, row.item, revision])
    }

    private func forgetRemovals(_ db: Database) throws {
        let oldest = try Int.fetchOne(
            db,
            sql: """
                SELECT removed_revision FROM \(table) WHERE removed_revision IS NOT NULL
                ORDER BY removed_revision DESC LIMIT 1 OFFSET \(Self.rememberedRemovals)
                """
        )
        guard let oldest else { return }
        try db.execute(sql: "DELETE FROM \(table) WHERE removed_revision <= ?", arguments: [oldest])
        try db.execute(sql: "UPDATE \(state) SET forgotten = ?", arguments: [oldest])
    }

    /// Deletes all rows. A client with an earlier revision gets everything as new.
    func removeAll(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM \(table)")
        try db.execute(sql: "UPDATE \(state) SET revision = revision + 1, forgotten = revision + 1")
    }
}
