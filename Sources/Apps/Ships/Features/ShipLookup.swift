import Database
import GRDB
import Screens

/// Finds the ship that a request names.
struct ShipLookup: Sendable {
    let store: ShipStore

    /// Returns the id in the path of a request.
    ///
    /// - Throws: ``Problem`` 404 `not-found` if it cannot be the id of a ship, before the store or the upstream is
    ///   asked.
    func id(in request: ScreenRequest) throws -> String {
        let segment = try request.parameter("id")
        guard let id = Ship.id(inPath: segment) else { throw Self.unknown(segment) }
        return id
    }

    /// Returns a ship that the session's account sees.
    ///
    /// - Throws: ``Problem`` 404 `not-found` if there is no such ship, 404 `ship-deleted` if the account deleted it;
    ///   `StorageError`.
    func ship(_ id: String, visibleTo session: Session) throws -> ShipOfAccount {
        try store.database.read { try ship(id, visibleTo: session, in: $0) }
    }

    /// Returns the same inside a transaction.
    func ship(_ id: String, visibleTo session: Session, in db: Database) throws -> ShipOfAccount {
        guard let ship = try ShipStore.ship(id, account: session.account, db) else { throw Self.unknown(id) }
        guard !ship.isHidden else { throw Self.deleted }
        return ship
    }

    private static func unknown(_ id: String) -> Problem { .notFound(.noShip(id)) }

    /// 404: the account deleted the ship.
    static let deleted = Problem(.shipDeleted, "You deleted this ship; POST /v1/ships/restore brings it back.")
}
