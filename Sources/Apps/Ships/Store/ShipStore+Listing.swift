import Database
import GRDB
import ResponseStore
import Screens

/// A page of the list that an account sees, read in one transaction.
struct ShipListing: Sendable {
    /// The columns that a row of the list shows; no others are read.
    struct Entry: Sendable, Equatable {
        let id: String
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

        init(_ db: Database, account: String) throws {
            let row = try Row.fetchOne(try db.cachedStatement(sql: Self.select), arguments: ["account": account])
            revision = row?["revision"] ?? 0
            hidden = row?["hidden"] ?? 0
            total = (row?["total"] ?? 0) - hidden
        }

        static let select = """
            SELECT
                max((SELECT content FROM ship_revision),
                    coalesce((SELECT max(revision) FROM ship_of_account WHERE account = :account), 0)) AS revision,
                (SELECT count(*) FROM (\(ShipStore.selectHidden)) AS mine JOIN ship ON ship.id = mine.ship_id
                    WHERE ship.removed_revision IS NULL) AS hidden,
                (SELECT present FROM ship_revision) AS total
            """
    }

    let ships: [Entry]
    let counts: Counts
    let changes: ShipChanges

    /// Whether the account sees no ship at all.
    var isEmpty: Bool { counts.total == 0 }
}

extension ShipStore {
    /// Returns a page of the ships that an account sees, sorted by name.
    ///
    /// - Parameter since: The revision that changes are counted from; nil for the one before the current one.
    func list(account: String, page: PageRequest, since: Int?) throws -> ShipListing {
        try database.read { db in
            let rows = try Row.fetchCursor(
                try db.cachedStatement(sql: Self.selectPage),
                arguments: ["account": account, "limit": page.limit, "offset": page.offset]
            )
            var ships: [ShipListing.Entry] = []
            while let row = try rows.next() {
                ships.append(
                    ShipListing.Entry(id: row[0], name: row[1], type: row[2], yearBuilt: row[3], isListed: row[4])
                )
            }
            let counts = try ShipListing.Counts(db, account: account)
            return ShipListing(
                ships: ships,
                counts: counts,
                changes: try Self.changes(db, account: account, since: since, now: counts.revision)
            )
        }
    }

    static let selectPage = """
        SELECT ship.id, ship.name, ship.type, ship.year_built, ship.listed FROM ship
        WHERE ship.removed_revision IS NULL AND NOT \(isHidden())
        ORDER BY ship.sort_key, ship.id LIMIT :limit OFFSET :offset
        """

    /// What changed between a revision and `now`, unless that is more than is listed. A revision that this database has
    /// not reached yet is another database's: everything counts as new.
    private static func changes(_ db: Database, account: String, since wanted: Int?, now: Int) throws -> ShipChanges {
        let since = wanted.map { $0 > now ? 0 : $0 } ?? max(0, now - 1)
        var changes = ShipChanges(since: since)
        let rows = try Row.fetchAll(
            try db.cachedStatement(sql: selectChanged),
            arguments: ["account": account, "since": since, "most": ShipChanges.mostListed + 1]
        )
        guard rows.count <= ShipChanges.mostListed else {
            changes.complete = false
            return changes
        }
        for row in rows {
            let id: String = row["id"]
            let removed: Int? = row["removed_revision"]
            let wasThere = row["added_revision"] <= since && removed.map { $0 > since } ?? true && !row["was_hidden"]
            let isThere = removed == nil && !row["is_hidden"]
            switch (wasThere, isThere) {
            case (false, true): changes.added.append(id)
            case (true, false): changes.removed.append(id)
            case (true, true) where row["changed_revision"] > since: changes.updated.append(id)
            default: break
            }
        }
        return changes
    }

    static let selectChanged = """
        WITH touched (id) AS (
            SELECT id FROM ship WHERE changed_revision > :since
            UNION SELECT ship_id FROM ship_of_account WHERE account = :account AND revision > :since
            LIMIT :most
        )
        SELECT ship.id, ship.added_revision, ship.changed_revision, ship.removed_revision,
            \(isHidden()) AS is_hidden, \(isHidden(at: ":since")) AS was_hidden
        FROM touched JOIN ship ON ship.id = touched.id
        ORDER BY ship.sort_key, ship.id
        """
}
