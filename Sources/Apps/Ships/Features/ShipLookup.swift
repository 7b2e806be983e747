import Screens

/// Finds the ship that a request names.
struct ShipLookup: Sendable {
    let ships: any ShipLists

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
    func ship(_ id: String, visibleTo session: Session) async throws -> ShipOfAccount {
        try await reader(id, visibleTo: session)()
    }

    /// Returns what reads it. It is called within the transaction that reads what else is shown.
    func reader(_ id: String, visibleTo session: Session) async throws -> () throws -> ShipOfAccount {
        let read = try await ships.ship(id, account: session.account).reader()
        return { try visible(try read(), id) }
    }

    /// Returns a ship that was read, if the account sees it.
    ///
    /// - Throws: ``Problem`` 404 `not-found` if there is no such ship, 404 `ship-deleted` if the account deleted it.
    func visible(_ ship: ShipOfAccount?, _ id: String) throws(Problem) -> ShipOfAccount {
        guard let ship else { throw Self.unknown(id) }
        guard !ship.isHidden else { throw Self.deleted }
        return ship
    }

    private static func unknown(_ id: String) -> Problem { .notFound(.noShip(id)) }

    /// 404: the account deleted the ship.
    static let deleted = Problem(.shipDeleted, "You deleted this ship; POST /v1/ships/restore brings it back.")
}
