import Screens

/// What was added, updated and removed since a revision, so that a front end can animate.
struct ShipChanges: Encodable, Sendable, Equatable {
    /// The revision that the changes are counted from.
    var since: Int
    var added: [String] = []
    var updated: [String] = []
    var removed: [String] = []
    /// Whether more ships have changed than are named.
    var hasMore = false
}

/// A ship that has changed since a revision, for every account or for one.
struct ChangedShip: Sendable {
    let id: String
    /// The revisions at which it was added, last changed and removed.
    let added: Int
    let changed: Int
    let removed: Int?
    /// Whether the account has hidden it, now and at the revision that changes are counted from.
    let isHidden: Bool
    let wasHidden: Bool
}

extension ShipChanges {
    /// Returns the revision that changes are counted from, the one before the current one if none is wanted. A revision
    /// that this database has not reached yet is another database's: everything counts as new.
    static func start(_ wanted: Int?, now revision: Int) -> Int {
        wanted.map { $0 > revision ? 0 : $0 } ?? max(0, revision - 1)
    }

    /// Adds a ship where it belongs, if the account sees a change.
    mutating func add(_ ship: ChangedShip) {
        let wasThere = ship.added <= since && ship.removed.map { $0 > since } ?? true && !ship.wasHidden
        let isThere = ship.removed == nil && !ship.isHidden
        switch (wasThere, isThere) {
        case (false, true): added.append(ship.id)
        case (true, false): removed.append(ship.id)
        case (true, true) where ship.changed > since: updated.append(ship.id)
        default: break
        }
    }
}

extension ShipChanges: JSONWritable {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("added", added)
        json.member("has_more", hasMore)
        json.member("removed", removed)
        json.member("since", since)
        json.member("updated", updated)
        json.endObject()
    }
}
