import HTTPTypes
import Upstream

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

    /// Returns the writes that merge a list: missing ships are inserted, changed ones updated, and those that the list
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
