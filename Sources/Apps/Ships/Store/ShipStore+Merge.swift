import Database
import GRDB
import Upstream

extension ShipStore {
    /// Returns the merge of a response's ships, whose last part is to be run in the transaction that stores the
    /// response.
    ///
    /// - Parameter onCommit: Called with the new revision when a part that changed a ship has been committed.
    func persistRows(of ships: [Ship], onCommit: @escaping @Sendable (_ revision: Int) -> Void)
        -> Resource.PersistRows
    {
        let merge = Result {
            let merge = ShipMerge(of: try ships.map(ShipColumns.init))
            try database.read(merge.prepare)
            return merge
        }
        return .inParts { [contentChanges] db in
            let (revision, isLast) = try merge.get().writeNext(db)
            if let revision {
                contentChanges.bump(afterCommitOf: db)
                db.afterNextTransaction { _ in onCommit(revision) }
            }
            return isLast
        }
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
            let writes = try ships.map { ShipWrite.insert(try ShipColumns($0), fromSnapshot: true) }
            try Self.write(writes[...], db)
            contentChanges.bump(afterCommitOf: db)
        }
    }

    /// Carries out writes at one revision, which the first of them that concerns an account takes.
    ///
    /// - Returns: The revision; nil if no account sees a change.
    @discardableResult
    static func write(_ writes: ArraySlice<ShipWrite>, _ db: Database) throws -> Int? {
        var taken: Int?
        func takeRevision() throws -> Int {
            if let taken { return taken }
            let next = try nextRevision(content: true, db)
            taken = next
            return next
        }
        for write in writes {
            switch write {
            case .insert(let ship, let isFromSnapshot):
                let revision = try takeRevision()
                try db.cachedStatement(sql: insertShip)
                    .execute(arguments: [ship.id] + ship.values + [isFromSnapshot, revision, revision])
            case .update(let ship):
                try db.cachedStatement(sql: updateShip).execute(arguments: ship.values + [takeRevision(), ship.id])
            case .markVanished(let id):
                try db.cachedStatement(sql: markShipVanished).execute(arguments: [takeRevision(), id])
            case .confirm(let id):
                try db.cachedStatement(sql: confirmShip).execute(arguments: [id])
            case .remove(let id):
                let revision = try takeRevision()
                try db.cachedStatement(sql: removeShip).execute(arguments: [revision, revision, id])
            }
        }
        return taken
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
    private static let markShipVanished = "UPDATE ship SET listed = 0, changed_revision = ? WHERE id = ?"
    private static let confirmShip = "UPDATE ship SET from_snapshot = 0 WHERE id = ?"
    private static let removeShip = "UPDATE ship SET removed_revision = ?, changed_revision = ? WHERE id = ?"
}
