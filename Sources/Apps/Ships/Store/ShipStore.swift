import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage

/// The ships of the app, and the ships that each account has deleted and restored.
///
/// Every change takes the next number of one counter, its revision. A ship has the revisions at which it was added,
/// last changed and removed; an account's last deletions and restorations of a ship have theirs. So the changes since a
/// revision are a query of a few rows, not a log that grows.
struct ShipStore: Sendable {
    /// The name of the app, as in the audiences of its events.
    static let app = "ships"
    /// All of the rows, which have one counter of revisions.
    static let scope = "ships"
    /// The tables that several servers replicate.
    static let replicated = JournalTables(
        replicated: ["ship", "ship_of_account", "ship_revision"],
        beginning: ["ship_revision"]
    )

    let users: UserDatabase
    /// Bumped when a ship changes for every account.
    let contentChanges = VersionCounter()
    /// Bumped when an account deletes or restores ships, by account.
    let accountChanges = VersionCounters()
    /// The last response that this server has compared with ships that other servers change, too.
    let merged = MergedResponse()
    /// The texts that searches look through.
    let index = ShipIndex()

    init(_ users: UserDatabase) {
        self.users = users
        users.onChange(of: "ship") { [contentChanges] _ in contentChanges.bump() }
        users.onChange(of: "ship_of_account") { [accountChanges] keys in
            let accounts = Set(keys.compactMap { key in key.first.flatMap { String.fromDatabaseValue($0) } })
            for account in accounts { accountChanges[account].bump() }
        }
    }

    /// Returns a token that is valid until something changes that the account sees. Take it before
    /// `UserDatabase.catchUp()`.
    func changeToken(account: String) -> ChangeToken {
        let topics = [
            ServerEvent.Audience.app(Self.app).topic,
            ServerEvent.Audience.account(app: Self.app, account: account).topic,
        ]
        return topics.reduce(ChangeToken(of: contentChanges, accountChanges[account])) {
            $0.and(users.changeToken(of: $1))
        }
    }

    /// Returns a ship, and whether the account has hidden it; nil if there is no such ship.
    static func ship(_ id: String, account: String, _ db: Database) throws -> ShipOfAccount? {
        try Row.fetchOne(try db.cachedStatement(sql: selectShip), arguments: ["account": account, "id": id])
            .map { row in
                try ShipOfAccount(
                    ship: Ship(row: row),
                    isHidden: row.value("hidden"),
                    revision: row.size("changed_revision")
                )
            }
    }

    static let selectShip =
        "SELECT ship.*, \(isHidden()) AS hidden FROM ship WHERE ship.id = :id AND ship.removed_revision IS NULL"

    /// Returns the last revision that concerned every account.
    static func contentRevision(_ db: Database) throws -> Int {
        try Int.fetchOne(try db.cachedStatement(sql: "SELECT content FROM ship_revision")) ?? 0
    }

    /// When the API last listed the ships, as far as servers have said so; nil if none has.
    static func listedAt(_ db: Database) throws -> Date? {
        let listedAt = try listing(db)
        return listedAt > 0 ? Date(millisecondsSince1970: listedAt) : nil
    }

    /// The list of the API that servers have merged last: its time by the clock of one of them, 0 for none.
    static func listing(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT listed_at FROM ship_revision")) ?? 0
    }

    /// The list that several servers have taken over, as far as this one knows; nil for a server by itself.
    func listing() throws -> Int64? { users.isShared ? try users.read(Self.listing) : nil }

    /// Takes the next revision.
    ///
    /// - Parameter content: Whether the change concerns every account.
    static func nextRevision(content: Bool = false, _ db: Database) throws -> Int {
        let sql = "UPDATE ship_revision SET last = last + 1\(content ? ", content = last + 1" : "") RETURNING last"
        guard let revision = try Int.fetchAll(db, sql: sql).first else {
            throw StorageError.damagedDatabase(path: "ship_revision", detail: "the counter is missing")
        }
        return revision
    }
}

/// A ship, and whether an account has hidden it.
struct ShipOfAccount: Sendable, Equatable {
    var ship: Ship
    var isHidden: Bool
    /// The revision at which the ship last changed.
    var revision: Int
}

extension Ship {
    /// Decodes a row of table `ship`.
    init(row: Row) throws {
        try self.init(
            id: row.value("id"),
            name: row.value("name"),
            type: row.value("type"),
            roles: row.json("roles"),
            isActive: row.value("active"),
            yearBuilt: row.value("year_built"),
            homePort: row.value("home_port"),
            massKilograms: row.value("mass_kg"),
            imageURL: row.value("image_url"),
            isListed: row.value("listed")
        )
    }
}

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

    /// The list over all pages, by name; the hits of a search for words by their relevance.
    static func list(of words: [String]) -> PagedList {
        guard !words.isEmpty else { return PagedList("ships.list", key: [.text, .text]) }
        return PagedList(
            "ships.list",
            by: "relevance",
            filter: words.joined(separator: " "),
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

    // However many have changed, no more are read than a page may name. An account has up to `keptMarks` marks of one
    // ship.
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
