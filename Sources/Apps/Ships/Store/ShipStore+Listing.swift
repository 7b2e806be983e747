import GRDB
import Screens
import Storage

/// A page of the list that an account sees, of one state.
struct ShipPage: Sendable {
    /// The columns that a row of the list shows; no others are read.
    struct Entry: Sendable, Equatable {
        let id: String
        let sortKey: String
        let name: String
        let type: String?
        let yearBuilt: Int?
        let isListed: Bool
    }

    /// The revision and sizes of the list that an account sees.
    struct Counts: Sendable, Equatable {
        /// The last change that the account could see.
        let revision: Int
        /// Ships that the account has hidden.
        let hidden: Int
        /// Ships that the account sees.
        let total: Int
        /// Whether the account has ever deleted a ship.
        let hasMarks: Bool

        static let select = """
            SELECT
                max((SELECT content FROM ship_revision),
                    coalesce((SELECT max(revision) FROM ship_of_account WHERE account = :account), 0)) AS revision,
                (SELECT count(*) FROM (\(ShipStore.selectHidden)) AS mine JOIN ship ON ship.id = mine.ship_id
                    WHERE ship.removed_revision IS NULL) AS hidden,
                (SELECT present FROM ship_revision) AS total,
                EXISTS (SELECT 1 FROM ship_of_account WHERE account = :account) AS has_marks
            """
    }

    /// The list over all pages.
    static let list = PagedList("ships.list", key: [.text, .text])

    let ships: [Entry]
    let hasMore: Bool
    let counts: Counts
    let changes: ListChanges

    /// Whether the account sees no ship at all.
    var isEmpty: Bool { counts.total == 0 }

    /// The cursor of the next page; nil if this one has no ship.
    var next: String? {
        ships.last.map { Self.list.cursor(after: [.text($0.sortKey), .text($0.id)]) }
    }

}

extension ShipPage.Counts {
    init(_ db: Database, account: String) throws {
        let row = try Row.fetchOne(try db.cachedStatement(sql: Self.select), arguments: ["account": account])
        let hidden: Int = try row?.size(1) ?? 0
        try self.init(
            revision: row?.size(0) ?? 0,
            hidden: hidden,
            total: (row?.size(2) ?? 0) - hidden,
            hasMarks: row?.value(3) ?? false
        )
    }
}

extension ShipPage {
    /// Reads a page of the ships that an account sees, sorted by name.
    ///
    /// - Parameter since: The revision that changes are counted from; nil for the one before the current one.
    init(_ db: Database, account: String, page: PageRequest, since: Int?) throws {
        let counts = try Counts(db, account: account)
        var arguments: StatementArguments = ["limit": page.limit + 1]
        arguments += page.key.map { ["sort_key": $0[0], "id": $0[1]] } ?? ["offset": page.offset]
        if counts.hidden > 0 { arguments += ["account": account] }
        let select = ShipStore.selectPage(hiding: counts.hidden > 0, after: page.key != nil)
        let rows = try Row.fetchCursor(try db.cachedStatement(sql: select), arguments: arguments)
        var ships: [Entry] = []
        while let row = try rows.next() {
            ships.append(
                try Entry(
                    id: row.value(0),
                    sortKey: row.value(1),
                    name: row.value(2),
                    type: row.value(3),
                    yearBuilt: row.value(4),
                    isListed: row.value(5)
                )
            )
        }
        self.init(
            ships: Array(ships.prefix(page.limit)),
            hasMore: ships.count > page.limit,
            counts: counts,
            changes: try ShipStore.changes(db, account: account, since: since, now: counts, limit: page.limit)
        )
    }
}

extension ShipStore {
    /// Returns the statement of a page.
    ///
    /// - Parameters:
    ///   - hiding: Whether the account has hidden ships.
    ///   - key: Whether the page begins behind a key, not at an offset.
    static func selectPage(hiding: Bool, after key: Bool) -> String {
        switch (hiding, key) {
        case (true, true): pageOfAccountAfterKey
        case (true, false): pageOfAccount
        case (false, true): pageAfterKey
        case (false, false): page
        }
    }

    private static let page = select("", " OFFSET :offset")
    private static let pageAfterKey = select(isAfterKey, "")
    private static let pageOfAccount = select("AND NOT \(isHidden())", " OFFSET :offset")
    private static let pageOfAccountAfterKey = select("\(isAfterKey) AND NOT \(isHidden())", "")
    private static let isAfterKey = "AND (ship.sort_key, ship.id) > (:sort_key, :id)"

    private static func select(_ conditions: String, _ offset: String) -> String {
        """
        SELECT ship.id, ship.sort_key, ship.name, ship.type, ship.year_built, ship.listed FROM ship
        WHERE ship.removed_revision IS NULL \(conditions)
        ORDER BY ship.sort_key, ship.id LIMIT :limit\(offset)
        """
    }

    /// Returns the changes between a revision and `now`, of `limit` ships at most.
    fileprivate static func changes(
        _ db: Database,
        account: String,
        since wanted: Int?,
        now: ShipPage.Counts,
        limit: Int
    ) throws -> ListChanges {
        let since = ListChanges.start(wanted, now: now.revision)
        var changes = ListChanges(since: since)
        var arguments: StatementArguments = ["since": since, "most": limit + 1]
        if now.hasMarks { arguments += ["account": account] }
        let select = now.hasMarks ? selectChanged : selectChangedOfAll
        let rows = try Row.fetchCursor(try db.cachedStatement(sql: select), arguments: arguments)
        var count = 0
        while let row = try rows.next() {
            count += 1
            guard count <= limit else {
                changes.hasMore = true
                break
            }
            changes.add(try ListChanges.Row(row: row))
        }
        return changes
    }

    /// The same for an account that has never deleted a ship.
    static let selectChangedOfAll = """
        SELECT id, added_revision, changed_revision, removed_revision, 0, 0 FROM (
            SELECT id, sort_key, added_revision, changed_revision, removed_revision FROM ship
            WHERE changed_revision > :since ORDER BY changed_revision, id LIMIT :most
        ) ORDER BY sort_key, id
        """

    // However many have changed, no more are looked at than a page may name. An account has up to `keptMarks` marks of
    // one ship.
    static let selectChanged = """
        WITH touched (id) AS (
            SELECT id FROM (
                SELECT id FROM ship WHERE changed_revision > :since ORDER BY changed_revision, id LIMIT :most
            )
            UNION SELECT ship_id FROM (
                SELECT ship_id FROM ship_of_account WHERE account = :account AND revision > :since
                ORDER BY revision, ship_id LIMIT :most * \(keptMarks)
            )
        )
        SELECT ship.id, ship.added_revision, ship.changed_revision, ship.removed_revision,
            \(isHidden()) AS is_hidden, \(isHidden(at: ":since")) AS was_hidden
        FROM touched JOIN ship ON ship.id = touched.id
        ORDER BY ship.sort_key, ship.id
        """
}

extension ListChanges.Row {
    /// Reads a row of `selectChanged`.
    fileprivate init(row: Row) throws {
        try self.init(
            id: row.value(0),
            added: row.value(1),
            changed: row.value(2),
            removed: row.value(3),
            isHidden: row.value(4),
            wasHidden: row.value(5)
        )
    }
}
