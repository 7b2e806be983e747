import Cluster
import Concurrency
import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import Synchronization
import Upstream

/// The merge of a response's ships into the store.
///
/// SQLite has one writer. The writes are computed before, on a connection that reads, and made in parts, so that other
/// writers have their turn between them. Each part is a change with its own revision: whatever happens between two of
/// them, each ship has the values that the API lists or those from before the merge.
final class ShipMerge: Sendable {
    /// Most ships that one transaction changes.
    static let largestPart = 1000

    /// A part that was written.
    struct Part: Sendable {
        /// Its revision; nil if it changed nothing that an account sees.
        let revision: Int?
        let left: ArraySlice<ShipWrite>
        /// The revision of the ships after it.
        let content: Int
    }

    /// The writes that remain.
    private struct Plan: Sendable {
        var writes: ArraySlice<ShipWrite>
        /// The revision of the ships that it was made for.
        var content: Int

        init(writes: ArraySlice<ShipWrite>, content: Int) { (self.writes, self.content) = (writes, content) }

        init(listing ships: [ShipColumns], _ db: Database) throws {
            content = try ShipStore.contentRevision(db)
            writes = try ShipWrite.writes(listing: ships, known: KnownShip.fetchAll(db))[...]
        }
    }

    private let ships: [ShipColumns]
    private let plan = Mutex<Plan?>(nil)

    init(of ships: [ShipColumns]) {
        self.ships = ships
    }

    /// Computes the writes of the merge.
    ///
    /// - Throws: `UpstreamError.badResponse` if there would be more ships than are kept.
    func prepare(_ db: Database) throws {
        let new = try Plan(listing: ships, db)
        plan.withLock { $0 = new }
    }

    /// Writes the next part. If the ships have changed since the part before, first computes the remaining writes
    /// again. The following call writes the part after it only if ``note(_:)`` was called.
    ///
    /// - Throws: `UpstreamError.badResponse` if there would be more ships than are kept.
    func writeNext(_ db: Database) throws -> Part {
        var left = try plan.withLock(\.self) ?? Plan(listing: ships, db)
        if try ShipStore.contentRevision(db) != left.content { left = try Plan(listing: ships, db) }
        let part = left.writes.prefix(Self.largestPart)
        let revision = try ShipStore.write(part, db)
        return Part(revision: revision, left: left.writes.dropFirst(part.count), content: revision ?? left.content)
    }

    /// Notes that a part was committed.
    func note(_ part: Part) { plan.withLock { $0 = Plan(writes: part.left, content: part.content) } }

    /// Whether nothing is left to write.
    var isComplete: Bool { plan.withLock { $0?.writes.isEmpty ?? false } }

    /// The revision of the ships after the last part; nil before ``prepare(_:)``.
    var content: Int? { plan.withLock { $0?.content } }
}

/// A stored ship.
struct KnownShip: Sendable {
    let columns: ShipColumns
    let isFromSnapshot: Bool
    let isRemoved: Bool

    /// Returns all ships by id, removed ones included.
    static func fetchAll(_ db: Database) throws -> [String: KnownShip] {
        var known: [String: KnownShip] = [:]
        let rows = try Row.fetchCursor(try db.cachedStatement(sql: ShipColumns.select))
        while let row = try rows.next() {
            let columns = try ShipColumns(row: row)
            known[columns.id] = try KnownShip(
                columns: columns,
                isFromSnapshot: row.value(11),
                isRemoved: row.value(12)
            )
        }
        return known
    }
}

/// One write of the merge of a list of the API into the store.
enum ShipWrite: Sendable, Equatable {
    /// Inserts a ship that is new, or that was removed.
    case insert(ShipColumns, fromSnapshot: Bool = false)
    case update(ShipColumns)
    /// Keeps a ship that the API no longer lists, with a mark.
    case markVanished(String)
    /// Notes that the API lists a ship with the values of the snapshot: nothing changes for an account.
    case confirm(String)
    /// Removes a ship that only the snapshot ever listed: this upstream does not know it.
    case remove(String)

    /// Most ships that are kept. All are compared with each response.
    static let maximumKnown = 2 * ListLimit.elements

    /// Returns the writes that merge a list. Missing ships are inserted and changed ones updated. Ships that the list
    /// lacks are kept with a mark, or removed if only the snapshot had them.
    ///
    /// - Throws: `UpstreamError.badResponse` if there would be more than ``maximumKnown``.
    static func writes(listing ships: [ShipColumns], known: [String: KnownShip]) throws(UpstreamError) -> [ShipWrite] {
        try requireRoom(for: known.count + ships.count { known[$0.id] == nil })
        let listed = Set(ships.map(\.id))
        return ships.compactMap { write(listing: $0, known: known[$0.id]) }
            + known.values.compactMap { listed.contains($0.columns.id) ? nil : write(missing: $0) }
    }

    /// - Throws: `UpstreamError.badResponse` if so many ships are more than ``maximumKnown``.
    static func requireRoom(for count: Int) throws(UpstreamError) {
        guard count <= maximumKnown else {
            throw .badResponse(status: .ok, reason: "more ships than are kept, vanished ones included")
        }
    }

    private static func write(listing ship: ShipColumns, known: KnownShip?) -> ShipWrite? {
        guard let known, !known.isRemoved else { return .insert(ship) }
        if known.columns != ship { return .update(ship) }
        return known.isFromSnapshot ? .confirm(ship.id) : nil
    }

    private static func write(missing known: KnownShip) -> ShipWrite? {
        guard !known.isRemoved else { return nil }
        if known.isFromSnapshot { return .remove(known.columns.id) }
        return known.columns.isListed ? .markVanished(known.columns.id) : nil
    }
}

/// A ship as the columns of its row, in which ships are compared: decoding each row would take longer than reading it.
struct ShipColumns: Sendable, Equatable {
    let id: String
    /// Those in the order of ``names``.
    let values: [DatabaseValue]

    var isListed: Bool { values.last == true.databaseValue }

    init(_ ship: Ship) throws {
        let roles = String(decoding: try JSONEncoder().encode(ship.roles), as: UTF8.self)
        let values: [any DatabaseValueConvertible] = [
            ship.name, ship.sortKey, ship.type, roles, ship.isActive, ship.yearBuilt, ship.homePort,
            ship.massKilograms, ship.imageURL, ship.isListed,
        ]
        (id, self.values) = (ship.id, values.map(\.databaseValue))
    }

    /// Reads a row of ``select``.
    init(row: Row) throws {
        id = try row.value(0)
        values = try Self.names.indices.map { try row.value($0 + 1) }
    }

    /// The names of the columns but `id`; that of ``isListed`` is the last.
    static let names = [
        "name", "sort_key", "type", "roles", "active", "year_built", "home_port", "mass_kg", "image_url", "listed",
    ]

    /// Selects all ships, and whether each is known from the snapshot only and whether it is removed.
    static let select = """
        SELECT id, \(names.joined(separator: ", ")), from_snapshot, removed_revision IS NOT NULL AS removed FROM ship
        """
}

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

    /// Returns the write of a merge.
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
                    .execute(
                        arguments: [ship.id] + StatementArguments(ship.values) + [isFromSnapshot, revision, revision]
                    )
            case .update(let ship):
                try db.cachedStatement(sql: updateShip).execute(
                    arguments: StatementArguments(ship.values) + [takeRevision(), ship.id]
                )
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
