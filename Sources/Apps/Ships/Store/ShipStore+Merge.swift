import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage
import Synchronization
import Upstream

extension ShipStore {
    /// Returns the merge of a response's ships.
    ///
    /// - Parameters:
    ///   - listedAt: When the API has sent or confirmed them.
    ///   - listing: The list that servers had taken over before the request was sent (``listing()``). If it is another
    ///     one now, that one stays: clocks of servers say nothing of which is later.
    ///   - onCommit: Called with the new revision when a part that changed a ship has been committed.
    func persistRows(
        of ships: [Ship],
        listedAt: Date,
        after listing: Int64?,
        onCommit: @escaping @Sendable (_ revision: Int) -> Void
    ) -> Resource.PersistRows {
        let merge = Result {
            let merge = ShipMerge(of: try ships.map(ShipColumns.init))
            try users.read(merge.prepare)
            return merge
        }
        switch merge {
        case .success(let merge): return persistRows(of: merge, listedAt: listedAt, after: listing, onCommit: onCommit)
        case .failure(let error): return Resource.PersistRows { _ in throw error }
        }
    }

    /// Returns the writing of a merge.
    func persistRows(
        of merge: ShipMerge,
        listedAt: Date,
        after listing: Int64?,
        onCommit: @escaping @Sendable (_ revision: Int) -> Void
    ) -> Resource.PersistRows {
        let own = listedAt.millisecondsSince1970
        return users.persistRows(scope: Self.scope) {
            [contentChanges, isShared = users.isShared] db -> (part: ShipMerge.Part, isLast: Bool) in
            if isShared, let listing, try ![listing, own].contains(Self.listing(db)) {
                let part = ShipMerge.Part(revision: nil, left: [], content: try Self.contentRevision(db))
                return (part, true)
            }
            let part = try merge.writeNext(db)
            if part.revision != nil { contentChanges.bump(afterCommitOf: db) }
            if isShared {
                try db.execute(sql: "UPDATE ship_revision SET listed_at = ?", arguments: [own])
            }
            return (part, part.left.isEmpty)
        } committed: { part in
            merge.note(part)
            if let revision = part.revision { onCommit(revision) }
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
        guard try users.read(isEmpty) else { return }
        try await users.write(scope: Self.scope) { [contentChanges] db in
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

/// The last response of the API that a server has taken over, and the revision of the ships after it.
final class MergedResponse: Sendable {
    private let state = Mutex<(body: Data, content: Int)?>(nil)

    /// Whether the ships are still those of a response.
    func holds(_ body: Data, content: Int) -> Bool {
        state.withLock { $0.map { $0.content == content && $0.body == body } ?? false }
    }

    func note(_ body: Data, content: Int) { state.withLock { $0 = (body, content) } }
}
