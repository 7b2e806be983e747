import Cluster
import Concurrency
import Foundation
import Screens
import Upstream

/// The details of one ship. They are part of the list's response, so they need no request of their own.
struct ShipDetails: Sendable {
    let refresher: ShipRefresher
    let store: ShipStore
    let lookup: ShipLookup
    let clock: WallClock

    /// `GET /v1/ships/{id}`.
    func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let id = try lookup.id(in: request)
        let changeToken = store.changeToken(account: session.account)
        let read = try await refresher.refresh(try request.cachePolicy()) { db in
            try ShipStore.ship(id, account: session.account, db)
        }
        let ship = try lookup.visible(read.rows)
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
        _type = Nullable(wrappedValue: ship.type)
        typeText = ship.type.map(Text.init(verbatim:)) ?? .notAvailable
        _yearBuilt = Nullable(wrappedValue: ship.yearBuilt)
        yearBuiltText = ship.yearBuilt.map { Text(verbatim: "\($0)") } ?? .notAvailable
        _weightKg = Nullable(wrappedValue: ship.massKilograms)
        weightKgText = ship.massKilograms.map { .kilograms($0) } ?? .notAvailable
        _homePort = Nullable(wrappedValue: ship.homePort)
        homePortText = ship.homePort.map(Text.init(verbatim:)) ?? .notAvailable
        roles = ship.roles
        rolesText = ship.roles.isEmpty ? .notAvailable : Text(verbatim: ship.roles.joined(separator: ", "))
        active = ship.isActive
        imageUrl = "\(Ship.paths.link(to: ship.id))/image"
        upstreamPresent = ship.isListed
    }
}

/// The pictures of ships.
struct ShipImages: Sendable {
    let api: SpaceXAPI
    let store: ShipStore
    let lookup: ShipLookup
    let clock: WallClock

    /// `GET /v1/ships/{id}/image`: the picture of a ship, or a placeholder that is not stored. Only URLs that the API
    /// named are fetched.
    func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let changeToken = store.changeToken(account: session.account)
        let id = try lookup.id(in: request)
        _ = try await store.users.catchUp()
        return try await .picture(
            { try lookup.ship(id, visibleTo: session).ship.imageURL.map { .picture(at: $0) } },
            of: api.upstream,
            try request.cachePolicy(),
            clock: clock,
            changeToken: changeToken
        )
    }
}
