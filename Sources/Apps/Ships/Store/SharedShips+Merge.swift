import Database
import Foundation
import Freshness
import Screens
import SharedStore
import Upstream

extension SharedShips {
    func refresh(
        from api: SpaceXAPI,
        _ cachePolicy: CachePolicy,
        else snapshot: ShipSnapshot,
        changed: @escaping @Sendable (_ revision: Int) -> Void
    ) async throws -> ReadResult {
        let known = try await knownIDs()
        let (result, body) = try await api.readList(
            cachePolicy,
            bundledAt: snapshot.recordedAt,
            check: { records throws(UpstreamError) in
                try ShipWrite.requireRoom(for: known.count + records.ships.count { !known.ids.contains($0.id) })
            }
        )
        guard result.response != nil else {
            try await importSnapshot(snapshot.records.ships)
            return result
        }
        guard let body, let listedAt = result.provenance.validatedAt else { return result }
        // The response is in the cache of this server, the ships are in the store: each confirmation is compared with
        // them, and nothing is missed if the server ended in between. One that was confirmed before counts only if
        // there never was a ship: it may be older than what another server has taken over.
        let content = try await contentRevision()
        guard content == 0 || result.provenance.isValidatedNow, !merged.holds(body, content: content) else {
            return result
        }
        let ships = try ShipRecords(json: body).ships
        let revision = try await api.upstream.reportingFailures {
            try await merge(ships, listedAt: listedAt, changed: changed)
        }
        merged.note(body, content: revision)
        return result
    }

    /// What a response is compared with before it is stored.
    private struct KnownIDs: Sendable {
        /// How many ships there are, removed ones included.
        var count = 0
        /// All of them, if another list might be more than are kept.
        var ids: Set<String> = []
    }

    private func knownIDs() async throws -> KnownIDs {
        let counts = try await database.rows("SELECT count(*) AS count FROM ship") {
            KnownIDs(count: try $0.value("count"))
        }
        var known = counts.first ?? KnownIDs()
        if known.count + ListLimit.elements > ShipWrite.maximumKnown {
            known.ids = Set(try await database.rows("SELECT id FROM ship") { try $0.value("id") as String })
        }
        return known
    }

    /// Takes over what the API lists, unless it has listed something else since. In parts, each of which is a change of
    /// its own with a revision of its own: whatever happens between two of them, each ship is as the API lists it or as
    /// it was before.
    ///
    /// - Returns: the revision of the ships after it.
    /// - Throws: `UpstreamError.badResponse` if there would be more ships than are kept; `SharedStoreError`.
    func merge(_ ships: [Ship], listedAt: Date, changed: (_ revision: Int) -> Void) async throws -> Int {
        let columns = try ships.map(ShipColumns.init)
        while true {
            let part = try await database.write(turns: [Self.turn]) { transaction in
                try Self.mergePart(columns, listedAt: listedAt.millisecondsSince1970, transaction)
            }
            if let revision = part.revision {
                changes.changed(Self.contentTopic)
                changed(revision)
            }
            if part.isLast { return part.content }
        }
    }

    private static let turn = "ships"

    private static func mergePart(_ ships: [ShipColumns], listedAt: Int64, _ transaction: SQLTransaction) throws
        -> (revision: Int?, content: Int, isLast: Bool)
    {
        let state = try transaction.rows("SELECT content, listed_at FROM ship_revision").first
        let content: Int = try state?.value("content") ?? 0
        guard try state?.value("listed_at") ?? 0 <= listedAt else { return (nil, content, true) }
        let known = try transaction.rows(ShipColumns.select).map { try KnownShip($0) }
        let writes = try ShipWrite.writes(
            listing: ships,
            known: Dictionary(known.map { ($0.columns.id, $0) }) { first, _ in first }
        )
        let part = writes.prefix(ShipMerge.largestPart)
        let revision = try write(part, transaction)
        try transaction.execute(updateState, [listedAt])
        return (revision, revision ?? content, part.count == writes.count)
    }

    /// Imports the ships of the bundled snapshot if there is no ship: the first start without an upstream.
    private func importSnapshot(_ ships: [Ship]) async throws {
        let writes = try ships.map { ShipWrite.insert(try ShipColumns($0), fromSnapshot: true) }
        // Called before every response that is made from the snapshot; only the first call writes.
        let known = try await database.rows(Self.selectAny) { _ in true }
        guard known.isEmpty else { return }
        defer { changes.changed(Self.contentTopic) }
        try await database.write(turns: [Self.turn]) { transaction in
            guard try transaction.rows(Self.selectAny).first == nil else { return }
            try Self.write(writes[...], transaction)
            try transaction.execute(Self.updateState, [0])
        }
    }

    private static let selectAny = "SELECT 1 AS found FROM ship WHERE removed_revision IS NULL LIMIT 1"
    private static let updateState = """
        UPDATE ship_revision
        SET present = (SELECT count(*) FROM ship WHERE removed_revision IS NULL), listed_at = greatest(listed_at, $1)
        """

    /// Carries out writes at one revision, which the first of them that concerns an account takes.
    ///
    /// - Returns: the revision; nil if no account sees a change.
    @discardableResult
    private static func write(_ writes: ArraySlice<ShipWrite>, _ transaction: SQLTransaction) throws -> Int? {
        var taken: Int?
        func takeRevision() throws -> Int {
            if let taken { return taken }
            let next = try nextRevision(content: true, transaction)
            taken = next
            return next
        }
        for write in writes {
            switch write {
            case .insert(let ship, let isFromSnapshot):
                let parameters: [any SQLParameter] = [ship.id, isFromSnapshot, try takeRevision()]
                try transaction.execute(insertShip, parameters + ship.parameters)
            case .update(let ship):
                try transaction.execute(updateShip, [ship.id, try takeRevision()] + ship.parameters)
            case .markVanished(let id):
                let update = "UPDATE ship SET listed = false, changed_revision = $2 WHERE id = $1"
                try transaction.execute(update, [id, try takeRevision()])
            case .confirm(let id):
                try transaction.execute("UPDATE ship SET from_snapshot = false WHERE id = $1", [id])
            case .remove(let id):
                let update = "UPDATE ship SET removed_revision = $2, changed_revision = $2 WHERE id = $1"
                try transaction.execute(update, [id, try takeRevision()])
            }
        }
        return taken
    }

    /// The names of the columns of a ship, and where their values are among the parameters.
    private static func columns(from first: Int) -> [(name: String, parameter: String)] {
        ShipColumns.names.enumerated().map { ($0.element, "$\($0.offset + first)") }
    }

    private static let insertShip = """
        INSERT INTO ship (
            id, from_snapshot, added_revision, changed_revision, \(ShipColumns.names.joined(separator: ", "))
        ) VALUES ($1, $2, $3, $3, \(columns(from: 4).map(\.parameter).joined(separator: ", ")))
        ON CONFLICT (id) DO UPDATE SET
            from_snapshot = $2, added_revision = $3, changed_revision = $3, removed_revision = NULL,
            \(columns(from: 4).map { "\($0.name) = \($0.parameter)" }.joined(separator: ", "))
        """
    private static let updateShip = """
        UPDATE ship SET
            from_snapshot = false, changed_revision = $2,
            \(columns(from: 3).map { "\($0.name) = \($0.parameter)" }.joined(separator: ", "))
        WHERE id = $1
        """
}
