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

    /// The list over all pages, by name; the hits of a search by their relevance.
    static func list(of query: RelevanceQuery) -> PagedList {
        guard !query.words.isEmpty else { return PagedList("ships.list", key: [.text, .text]) }
        return PagedList(
            "ships.list",
            by: "relevance",
            filter: query.words.joined(separator: " "),
            key: [.integer, .text, .text]
        )
    }

    let page: ListPage<Entry>
    let counts: Counts
    let changes: ListChanges
    /// The words that were searched for in place of those of the text; nil if they were those.
    var variant: SearchVariant?

    var ships: [Entry] { page.rows }
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

extension ShipPage.Entry {
    /// Reads a row of ``ShipStore/select``.
    init(row: Row) throws {
        try self.init(
            id: row.value(0),
            sortKey: row.value(1),
            name: row.value(2),
            type: row.value(3),
            yearBuilt: row.value(4),
            isListed: row.value(5)
        )
    }
}

extension ShipPage {
    /// Reads a page of the ships that an account sees, sorted by name.
    ///
    /// - Parameter since: The revision that changes are counted from; nil for the one before the current one.
    init(_ db: Database, account: String, page: PageRequest, since: Int?) throws {
        let counts = try Counts(db, account: account)
        let (query, arguments): (PagedQuery, StatementArguments) =
            counts.hidden > 0 ? (ShipStore.shipsOfAccount, ["account": account]) : (ShipStore.ships, [:])
        var ships = try query.page(page, arguments, db, Entry.init)
        ships.total = counts.total
        self.init(
            page: ships,
            counts: counts,
            changes: try ShipStore.changes(db, account: account, since: since, now: counts, limit: page.limit)
        )
    }
}

extension ShipStore {
    /// The ships of an account that has hidden none.
    static let ships = PagedQuery(select, by: order)
    /// The ships of an account that has hidden some.
    static let shipsOfAccount = PagedQuery("\(select) AND NOT \(isHidden())", by: order)

    static let select = """
        SELECT ship.id, ship.sort_key, ship.name, ship.type, ship.year_built, ship.listed FROM ship
        WHERE ship.removed_revision IS NULL
        """
    private static let order = ["ship.sort_key", "ship.id"]

    /// Returns the changes between a revision and `now`, of `limit` ships at most.
    static func changes(
        _ db: Database,
        account: String,
        since wanted: Int?,
        now: ShipPage.Counts,
        limit: Int
    ) throws -> ListChanges {
        let since = ListChanges.start(wanted, now: now.revision)
        var arguments: StatementArguments = ["since": since, "most": limit + 1]
        if now.hasMarks { arguments += ["account": account] }
        let select = try db.cachedStatement(sql: now.hasMarks ? selectChanged : selectChangedOfAll)
        return try ListChanges(since: since, Row.fetchCursor(select, arguments: arguments), limit: limit)
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
