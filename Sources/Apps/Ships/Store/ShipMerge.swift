import GRDB
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
    /// - Throws: `UpstreamError.badResponse` if there would be more ships than are kept; errors of the database.
    func prepare(_ db: Database) throws {
        let new = try Plan(listing: ships, db)
        plan.withLock { $0 = new }
    }

    /// Writes the next part. If the ships have changed since the part before, computes the remaining writes anew first.
    /// The following call writes the part after it only if ``note(_:)`` was called.
    ///
    /// - Throws: `UpstreamError.badResponse` if there would be more ships than are kept; errors of the database.
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
