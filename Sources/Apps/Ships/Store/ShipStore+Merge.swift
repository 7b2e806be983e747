import Database
import Foundation
import GRDB
import HTTPTypes
import Upstream

extension ShipStore {
    /// Returns the merge of a response's ships, to be run in the transaction that stores the response.
    ///
    /// - Parameter onCommit: Called with the new revision when the transaction has been committed, if a ship changed.
    func persistRows(of ships: [Ship], onCommit: @escaping @Sendable (_ revision: Int) -> Void)
        -> Resource.PersistRows
    {
        // The columns are made here, so that the transaction, for which other writes wait, only writes them.
        let columns = Result { try ships.map(ShipColumns.init) }
        return { [contentChanges] db in
            guard let revision = try Self.merge(try columns.get(), in: db) else { return }
            contentChanges.bump(afterCommitOf: db)
            db.afterNextTransaction { _ in onCommit(revision) }
        }
    }

    /// Most ships that are kept. All are compared with each response, while other writes wait.
    static let maximumKnown = 2 * ListLimit.elements

    /// Merges what the API lists, by id: inserts missing ships, updates changed ones, and keeps those that are no
    /// longer listed with a mark.
    ///
    /// - Returns: The new revision, nil if nothing changed.
    /// - Throws: `UpstreamError.badResponse` if there would be more than ``maximumKnown``; errors of the database.
    @discardableResult
    static func merge(_ ships: [ShipColumns], in db: Database) throws -> Int? {
        let known = try Known.fetchAll(db)
        guard known.count + ships.count(where: { known[$0.id] == nil }) <= maximumKnown else {
            throw UpstreamError.badResponse(status: .ok, reason: "more ships than are kept, vanished ones included")
        }
        var merge = Merge(db)
        for ship in ships { try merge.list(ship, known: known[ship.id]) }
        let listed = Set(ships.map(\.id))
        for (id, present) in known where !listed.contains(id) && !present.isRemoved {
            try merge.markVanished(present)
        }
        return merge.revision
    }

    /// Imports the ships of the bundled snapshot if there is no ship: the first start without an upstream.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func importSnapshot(_ ships: [Ship]) async throws {
        // Called before every response that is made from the snapshot; only the first call writes.
        let isEmpty: @Sendable (Database) throws -> Bool = {
            try Bool.fetchOne($0, sql: "SELECT NOT EXISTS (SELECT 1 FROM ship WHERE removed_revision IS NULL)") == true
        }
        guard try database.read(isEmpty) else { return }
        try await database.write { [contentChanges] db in
            guard try isEmpty(db) else { return }
            var merge = Merge(db)
            for ship in ships { try merge.insert(try ShipColumns(ship), fromSnapshot: true) }
            contentChanges.bump(afterCommitOf: db)
        }
    }

    private struct Known {
        let ship: ShipColumns
        let isFromSnapshot: Bool
        let isRemoved: Bool

        static func fetchAll(_ db: Database) throws -> [String: Known] {
            var known: [String: Known] = [:]
            let rows = try Row.fetchCursor(db, sql: ShipColumns.select)
            while let row = try rows.next() {
                let ship = ShipColumns(row: row)
                known[ship.id] = Known(ship: ship, isFromSnapshot: row[11], isRemoved: row[12])
            }
            return known
        }
    }

    /// The writes of one merge. They share one revision, which the first of them takes.
    private struct Merge {
        let db: Database
        private(set) var revision: Int?

        init(_ db: Database) { self.db = db }

        private mutating func takeRevision() throws -> Int {
            if let revision { return revision }
            let next = try ShipStore.nextRevision(content: true, db)
            revision = next
            return next
        }

        private static let insertShip = """
            INSERT OR REPLACE INTO ship (
                id, \(ShipColumns.names.joined(separator: ", ")),
                from_snapshot, added_revision, changed_revision, removed_revision
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)
            """

        private static let updateShip = """
            UPDATE ship SET \(ShipColumns.names.map { "\($0) = ?" }.joined(separator: ", ")),
                from_snapshot = 0, changed_revision = ?
            WHERE id = ?
            """

        /// Writes a ship that the API lists.
        mutating func list(_ ship: ShipColumns, known: Known?) throws {
            guard let known, !known.isRemoved else { return try insert(ship, fromSnapshot: false) }
            if known.ship != ship {
                try update(ship)
            } else if known.isFromSnapshot {
                try confirm(ship.id)
            }
        }

        /// Marks a ship that the API no longer lists.
        mutating func markVanished(_ known: Known) throws {
            if known.isFromSnapshot {
                // Only the snapshot ever listed it: this upstream does not know it.
                try remove(known.ship.id)
            } else if known.ship.isListed {
                var vanished = known.ship
                vanished.isListed = false
                try update(vanished)
            }
        }

        mutating func insert(_ ship: ShipColumns, fromSnapshot: Bool) throws {
            let revision = try takeRevision()
            try db.cachedStatement(sql: Self.insertShip)
                .execute(arguments: [ship.id] + ship.values + [fromSnapshot, revision, revision])
        }

        private mutating func update(_ ship: ShipColumns) throws {
            let revision = try takeRevision()
            try db.cachedStatement(sql: Self.updateShip).execute(arguments: ship.values + [revision, ship.id])
        }

        /// Notes that the API lists a ship just as the snapshot has it: nothing changes for an account.
        private func confirm(_ id: String) throws {
            try db.cachedStatement(sql: "UPDATE ship SET from_snapshot = 0 WHERE id = ?").execute(arguments: [id])
        }

        private mutating func remove(_ id: String) throws {
            let revision = try takeRevision()
            try db.cachedStatement(sql: "UPDATE ship SET removed_revision = ?, changed_revision = ? WHERE id = ?")
                .execute(arguments: [revision, revision, id])
        }
    }
}
