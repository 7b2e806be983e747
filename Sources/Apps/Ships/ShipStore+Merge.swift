import Foundation
import GRDB
import Storage
import Upstream

extension ShipStore {
    /// The merge of a response's ships, for the transaction that stores the response. `changed` hears of a new revision
    /// when it is on the disk.
    static func persistRows(of records: ShipRecords, changed: @escaping @Sendable (_ revision: Int) -> Void)
        -> Resource.PersistRows
    {
        { db in
            guard let revision = try merge(records, in: db) else { return }
            db.afterNextTransaction { _ in changed(revision) }
        }
    }

    /// Takes over what the API lists: inserts what is missing, updates what changed, keeps and marks what is not listed
    /// any more. None twice: the key is the API's id.
    ///
    /// - Returns: The new revision, nil where nothing changed.
    @discardableResult
    static func merge(_ records: ShipRecords, in db: Database) throws -> Int? {
        let known = try Known.fetchAll(db)
        var merge = Merge(db)
        for ship in records.ships {
            guard let present = known[ship.id], !present.isRemoved else {
                try merge.insert(ship, fromSnapshot: false)
                continue
            }
            if present.ship != ship {
                try merge.update(ship)
            } else if present.isFromSnapshot {
                try merge.confirm(ship.id)
            }
        }
        let listed = Set(records.ships.map(\.id))
        for (id, present) in known where !listed.contains(id) && !present.isRemoved {
            if present.isFromSnapshot {
                // Nobody but the snapshot ever spoke of it: this upstream does not know it.
                try merge.remove(id)
            } else if present.ship.isListed {
                var vanished = present.ship
                vanished.isListed = false
                try merge.update(vanished)
            }
        }
        return merge.revision
    }

    /// Takes over the bundled snapshot, where no ship is known yet: the first start without an upstream.
    func importSnapshot(_ snapshot: ShipSnapshot) async throws {
        // Asked before every response that the snapshot stands in for; only the first of them writes.
        let isEmpty: @Sendable (Database) throws -> Bool = {
            try Bool.fetchOne($0, sql: "SELECT NOT EXISTS (SELECT 1 FROM ship WHERE removed_revision IS NULL)") == true
        }
        guard try database.read(isEmpty) else { return }
        defer { contentChanges.bump() }
        try await database.write { db in
            guard try isEmpty(db) else { return }
            var merge = Merge(db)
            for ship in snapshot.records.ships { try merge.insert(ship, fromSnapshot: true) }
        }
    }

    private struct Known {
        let ship: Ship
        let isFromSnapshot: Bool
        let isRemoved: Bool

        static func fetchAll(_ db: Database) throws -> [String: Known] {
            var known: [String: Known] = [:]
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM ship")
            while let row = try rows.next() {
                let ship = try Ship(row: row)
                known[ship.id] = Known(
                    ship: ship,
                    isFromSnapshot: row["from_snapshot"],
                    isRemoved: row["removed_revision"] != nil
                )
            }
            return known
        }
    }

    /// The writes of one merge; they share one revision, taken when the first of them comes.
    private struct Merge {
        let db: Database
        private(set) var revision: Int?

        init(_ db: Database) { self.db = db }

        private mutating func take() throws -> Int {
            if let revision { return revision }
            let next = try ShipStore.nextRevision(content: true, db)
            revision = next
            return next
        }

        mutating func insert(_ ship: Ship, fromSnapshot: Bool) throws {
            let revision = try take()
            try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO ship
                        (id, name, sort_key, type, roles, active, year_built, home_port, mass_kg, image_url, listed, from_snapshot,
                        added_revision, changed_revision, removed_revision)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)
                    """
            ).execute(arguments: [ship.id] + (try columns(ship)) + [fromSnapshot, revision, revision])
        }

        mutating func update(_ ship: Ship) throws {
            let revision = try take()
            try db.cachedStatement(
                sql: """
                    UPDATE ship SET name = ?, sort_key = ?, type = ?, roles = ?, active = ?, year_built = ?, home_port = ?, mass_kg = ?, image_url = ?,
                        listed = ?, from_snapshot = 0, changed_revision = ?
                    WHERE id = ?
                    """
            ).execute(arguments: try columns(ship) + [revision, ship.id])
        }

        /// The API knows it just as the snapshot had it: nothing that anybody sees has changed.
        func confirm(_ id: String) throws {
            try db.cachedStatement(sql: "UPDATE ship SET from_snapshot = 0 WHERE id = ?").execute(arguments: [id])
        }

        mutating func remove(_ id: String) throws {
            let revision = try take()
            try db.cachedStatement(sql: "UPDATE ship SET removed_revision = ?, changed_revision = ? WHERE id = ?")
                .execute(arguments: [revision, revision, id])
        }

        private func columns(_ ship: Ship) throws -> StatementArguments {
            let roles = String(decoding: try JSONEncoder().encode(ship.roles), as: UTF8.self)
            return [
                ship.name, ship.sortKey, ship.type, roles, ship.isActive, ship.yearBuilt, ship.homePort,
                ship.massKilograms, ship.imageURL, ship.isListed,
            ]
        }
    }
}
