import Cluster
import Concurrency
import Foundation
import Screens
import Upstream

extension ShipsApp {
    /// `GET /v1/ships/{id}`: the details are part of the list's response, so they need no request of their own.
    func showShip(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let id = try Self.shipID(in: request)
        let changeToken = store.changeToken(account: session.account)
        let read = try await refresh(try request.cachePolicy()) { db in
            try ShipStore.ship(id, account: session.account, db)
        }
        let ship = try Self.visible(read.rows)
        return try ScreenResponse.read(
            ShipDetailsScreen(ship.ship),
            "ships.details",
            request,
            of: read.result,
            now: clock.now(),
            revision: ship.revision,
            banner: read.banner,
            changeToken: changeToken
        ).at(version: ship.revision)
    }

    /// `GET /v1/ships/{id}/image`: the picture of a ship, or a placeholder that is not stored. Only URLs that the API
    /// named are fetched.
    func showImage(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let changeToken = store.changeToken(account: session.account)
        let id = try Self.shipID(in: request)
        _ = try await store.users.catchUp()
        return try await pictures.show(request, changeToken) { try ship(id, visibleTo: session).ship.imageURL }
    }

    /// Returns the id in the path of a request.
    ///
    /// - Throws: ``Problem`` 404 `not-found` if it cannot be the id of a ship, before the store or the upstream is
    ///   asked.
    static func shipID(in request: ScreenRequest) throws -> String {
        let segment = try request.parameter("id")
        guard let id = Ship.paths.id(in: segment) else { throw Problem.notFound(.noShip) }
        return id
    }

    /// Returns a ship that the session's account sees.
    ///
    /// - Throws: ``Problem`` 404 `not-found` if there is no such ship, 404 `ship-deleted` if the account deleted it.
    func ship(_ id: String, visibleTo session: Session) throws -> ShipOfAccount {
        try Self.visible(try store.users.read { try ShipStore.ship(id, account: session.account, $0) })
    }

    private static func visible(_ ship: ShipOfAccount?) throws(Problem) -> ShipOfAccount {
        guard let ship else { throw Problem.notFound(.noShip) }
        guard !ship.isHidden else { throw deleted }
        return ship
    }

    /// 404: the account deleted the ship.
    static let deleted = Problem(.shipDeleted, "You deleted this ship; POST /v1/ships/restore brings it back.")
}

/// `GET /v1/ships/{id}`.
struct ShipDetailsScreen: Encodable, Sendable {
    let id: String
    let name: String
    @Nullable var type: String?
    let typeText: Text
    @Nullable var yearBuilt: Int?
    let yearBuiltText: Text
    @Nullable var weightKg: Double?
    let weightKgText: Text
    @Nullable var homePort: String?
    let homePortText: Text
    let roles: [String]
    let rolesText: Text
    let active: Bool
    let imageUrl: Link
    let upstreamPresent: Bool

    init(_ ship: Ship) {
        id = ship.id
        name = ship.name
        type = ship.type
        typeText = ship.type.map(Text.init(verbatim:)) ?? .notAvailable
        yearBuilt = ship.yearBuilt
        yearBuiltText = ship.yearBuilt.map { Text(verbatim: "\($0)") } ?? .notAvailable
        weightKg = ship.massKilograms
        weightKgText = ship.massKilograms.map { .kilograms($0) } ?? .notAvailable
        homePort = ship.homePort
        homePortText = ship.homePort.map(Text.init(verbatim:)) ?? .notAvailable
        roles = ship.roles
        rolesText = ship.roles.isEmpty ? .notAvailable : Text(verbatim: ship.roles.joined(separator: ", "))
        active = ship.isActive
        imageUrl = "\(Ship.paths.link(to: ship.id))/image"
        upstreamPresent = ship.isListed
    }
}
