import Database
import GRDB
import SharedStore
import Synchronization
import Upstream

/// The merge of a response's ships into the store.
///
/// SQLite has one writer. What there is to write is found before, on a connection that reads, and written in parts, so
/// that other writers have their turn between them. Each part is a change of its own, with a revision of its own:
/// whatever happens between two of them, each ship is as the API lists it or as it was before.
final class ShipMerge: Sendable {
    /// Most ships that one transaction changes.
    static let largestPart = 1000

    /// What is left to write.
    private struct Plan: Sendable {
        var writes: ArraySlice<ShipWrite>
        /// The revision of the ships that it was made for.
        var content: Int

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

    /// Finds what there is to write.
    ///
    /// - Throws: `UpstreamError.badResponse` if there would be more ships than are kept; errors of the database.
    func prepare(_ db: Database) throws {
        let new = try Plan(listing: ships, db)
        plan.withLock { $0 = new }
    }

    /// Writes the next part. If the ships have changed since the part before, finds what is left to write first.
    ///
    /// - Returns: The revision of the part, nil if it changed nothing that an account sees, and whether it was the
    ///   last.
    /// - Throws: `UpstreamError.badResponse` if there would be more ships than are kept; errors of the database.
    func writeNext(_ db: Database) throws -> (revision: Int?, isLast: Bool) {
        var left = try plan.withLock(\.self) ?? Plan(listing: ships, db)
        if try ShipStore.contentRevision(db) != left.content { left = try Plan(listing: ships, db) }
        let part = left.writes.prefix(Self.largestPart)
        let revision = try ShipStore.write(part, db)
        left.writes = left.writes.dropFirst(part.count)
        if let revision { left.content = revision }
        plan.withLock { [left] plan in plan = left }
        return (revision, left.writes.isEmpty)
    }
}

/// A ship as the store has it.
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

extension KnownShip {
    /// Reads a row of ``ShipColumns/select`` in a shared store.
    init(_ row: SQLRow) throws {
        self.init(
            columns: try ShipColumns(row),
            isFromSnapshot: try row.value("from_snapshot"),
            isRemoved: try row.value("removed")
        )
    }
}
