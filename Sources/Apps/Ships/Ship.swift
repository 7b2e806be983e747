import Database
import Foundation
import Screens

/// A ship as the app stores and shows it, without the upstream's quirks.
struct Ship: Sendable, Equatable {
    /// The API's id: the only key that does not change if a ship is renamed.
    var id: String
    var name: String
    var type: String?
    var roles: [String]
    var isActive: Bool
    var yearBuilt: Int?
    var homePort: String?
    var massKilograms: Double?
    /// URL of the picture, as the API says; never sent to a client.
    var imageURL: String?
    /// Whether the API's last response listed it.
    var isListed = true

    /// Most characters of a text that are kept.
    static let longestText = 2048
    /// Most roles that are kept.
    static let maximumRoles = 100
    /// Largest size of an id in UTF-8, in bytes; percent-encoded, it fits into every request line.
    static let longestID = 256

    /// Returns the id that a text of the API or of a client is, in Unicode NFC: two texts that Swift takes for equal
    /// are one key of the database, too. Nil if it cannot be an id.
    ///
    /// The API's ids are 24 hexadecimal digits; any other text is accepted, too. A text with NUL is never looked up,
    /// since SQLite would find `id` for `id\0more`.
    static func identity(_ text: String) -> String? {
        let id = text.precomposedStringWithCanonicalMapping
        let isUsable =
            (1...longestID).contains(id.utf8.count) && !id.utf8.contains(0) && !id.allSatisfy(\.isWhitespace)
        return isUsable ? id : nil
    }

    /// Segments of paths that are no id: words of this API, and those that URIs give a meaning (RFC 3986 §3.3).
    private static let reservedSegments: Set<String> = ["launch", "restore", "session", ".", ".."]

    /// Address of the details. `~` before an id keeps it apart from reserved segments.
    static func path(of id: String) -> Link {
        let isMarked = id.hasPrefix("~") || reservedSegments.contains(id)
        return isMarked ? "/v1/ships/~\(id)" : "/v1/ships/\(id)"
    }

    /// Returns the id that a segment of a path names; nil if it cannot be one.
    static func id(inPath segment: String) -> String? {
        identity(String(segment.hasPrefix("~") ? segment.dropFirst() : segment[...]))
    }

    /// The sort key of ships: the name in Unicode simple case folding, so that `bob` is between `Alma` and `Carl`.
    var sortKey: String { Self.sortKey(of: name) }

    static func sortKey(of name: String) -> String { name.caseFolded.cutToKey }
}

/// The ships added, updated and removed since a revision, so that a front end can animate.
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
