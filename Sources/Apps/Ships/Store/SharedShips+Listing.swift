import Foundation
import Screens
import SharedStore

extension SharedShips {
    func listing(account: String, page: PageRequest, since: Int?) -> ShipReading<ShipPage> {
        .shared {
            let listing = try await database.read { transaction in
                try ShipPage(transaction, account: account, page: page, since: since)
            }
            return (listing, listing.counts.revision > 0)
        }
    }

    func ship(_ id: String, account: String) -> ShipReading<ShipOfAccount?> {
        .shared {
            let found = try await database.rows(Self.selectShip, [account, id]) { try ShipOfAccount($0) }
            if let ship = found.first { return (ship, true) }
            return (nil, try await contentRevision() > 0)
        }
    }

    /// Returns the last revision that concerned every account.
    func contentRevision() async throws -> Int {
        let select = "SELECT content FROM ship_revision"
        return try await database.rows(select) { try $0.value("content") as Int }.first ?? 0
    }

    static let selectShip = """
        SELECT ship.*, \(isHidden()) AS hidden FROM ship WHERE ship.id = $2 AND ship.removed_revision IS NULL
        """

    /// Whether account `$1` has hidden the ship of the current row.
    ///
    /// - Parameter revision: SQL of the revision at which to look; nil for now.
    fileprivate static func isHidden(at revision: String? = nil) -> String {
        """
        coalesce((SELECT mine.hidden FROM ship_of_account AS mine
            WHERE mine.account = $1 AND mine.ship_id = ship.id \(revision.map { "AND mine.revision <= \($0)" } ?? "")
            ORDER BY mine.revision DESC LIMIT 1), false)
        """
    }

    fileprivate static let selectCounts = """
        SELECT
            greatest(content, coalesce((SELECT max(revision) FROM ship_of_account WHERE account = $1), 0)) AS revision,
            (SELECT count(*) FROM (\(selectHidden)) AS mine JOIN ship ON ship.id = mine.ship_id
                WHERE ship.removed_revision IS NULL) AS hidden,
            present, EXISTS (SELECT 1 FROM ship_of_account WHERE account = $1) AS has_marks
        FROM ship_revision
        """

    /// - Parameter hiding: Whether the account has hidden ships.
    fileprivate static func selectPage(hiding: Bool) -> String {
        """
        SELECT id, sort_key, name, type, year_built, listed FROM ship
        WHERE removed_revision IS NULL AND (sort_key, id) > ($2, $3) AND \(hiding ? "NOT \(isHidden())" : "$1 = $1")
        ORDER BY sort_key, id LIMIT $4 OFFSET $5
        """
    }

    fileprivate static let selectChanged = """
        WITH touched (id) AS (
            SELECT id FROM (
                SELECT id FROM ship WHERE changed_revision > $2 ORDER BY changed_revision, id LIMIT $3
            ) AS changed
            UNION SELECT ship_id FROM (
                SELECT ship_id FROM ship_of_account WHERE account = $1 AND revision > $2
                ORDER BY revision, ship_id LIMIT $3 * \(ShipStore.keptMarks)
            ) AS marked
        )
        SELECT ship.id, ship.added_revision, ship.changed_revision, ship.removed_revision, \(isHidden()) AS is_hidden,
            \(isHidden(at: "$2")) AS was_hidden
        FROM touched JOIN ship ON ship.id = touched.id ORDER BY ship.sort_key, ship.id
        """
}

extension ShipPage.Counts {
    init(_ transaction: SQLTransaction, account: String) throws {
        let row = try transaction.rows(SharedShips.selectCounts, [account]).first
        let hidden: Int = try row?.value("hidden") ?? 0
        self.init(
            revision: try row?.value("revision") ?? 0,
            hidden: hidden,
            total: (try row?.value("present") ?? 0) - hidden,
            hasMarks: try row?.value("has_marks") ?? false
        )
    }
}

extension ShipPage {
    fileprivate init(_ transaction: SQLTransaction, account: String, page: PageRequest, since wanted: Int?) throws {
        let counts = try Counts(transaction, account: account)
        // No ship is before the key without a text.
        let (sortKey, id) = (page.key?[0].text ?? "", page.key?[1].text ?? "")
        let ships = try transaction.rows(
            SharedShips.selectPage(hiding: counts.hidden > 0),
            [account, sortKey, id, page.limit + 1, page.key == nil ? page.offset : 0]
        ).map { try Entry($0) }
        let since = ShipChanges.start(wanted, now: counts.revision)
        let changed = try transaction.rows(SharedShips.selectChanged, [account, since, page.limit + 1])
        var changes = ShipChanges(since: since)
        changes.hasMore = changed.count > page.limit
        for ship in try changed.map({ try ChangedShip($0) }).prefix(page.limit) { changes.add(ship) }
        self.init(
            ships: Array(ships.prefix(page.limit)),
            hasMore: ships.count > page.limit,
            counts: counts,
            changes: changes
        )
    }
}

extension ShipPage.Entry {
    fileprivate init(_ row: SQLRow) throws {
        self.init(
            id: try row.value("id"),
            sortKey: try row.value("sort_key"),
            name: try row.value("name"),
            type: try row.value("type"),
            yearBuilt: try row.value("year_built"),
            isListed: try row.value("listed")
        )
    }
}

extension ChangedShip {
    fileprivate init(_ row: SQLRow) throws {
        self.init(
            id: try row.value("id"),
            added: try row.value("added_revision"),
            changed: try row.value("changed_revision"),
            removed: try row.value("removed_revision"),
            isHidden: try row.value("is_hidden"),
            wasHidden: try row.value("was_hidden")
        )
    }
}

extension ShipOfAccount {
    init(_ row: SQLRow) throws {
        let roles: String = try row.value("roles")
        self.init(
            ship: Ship(
                id: try row.value("id"),
                name: try row.value("name"),
                type: try row.value("type"),
                roles: try JSONDecoder().decode([String].self, from: Data(roles.utf8)),
                isActive: try row.value("active"),
                yearBuilt: try row.value("year_built"),
                homePort: try row.value("home_port"),
                massKilograms: try row.value("mass_kg"),
                imageURL: try row.value("image_url"),
                isListed: try row.value("listed")
            ),
            isHidden: try row.value("hidden"),
            revision: try row.value("changed_revision")
        )
    }
}

extension CursorValue {
    /// The text; nil for an integer.
    fileprivate var text: String? { if case .text(let value) = self { value } else { nil } }
}
