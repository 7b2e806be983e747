import Freshness
import Screens
import Upstream

/// The pictures of ships.
struct Images: Sendable {
    let api: SpaceXAPI
    let ships: any ShipLists
    let lookup: ShipLookup
    let clock: WallClock

    /// `GET /v1/ships/{id}/image`: the picture of a ship, or a placeholder that is not stored. Only URLs that the API
    /// named are fetched.
    func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let changeToken = ships.changeToken(account: session.account)
        let id = try lookup.id(in: request)
        let ship = try await lookup.reader(id, visibleTo: session)
        return try await .picture(
            { try ship().ship.imageURL.map { .picture(at: $0) } },
            of: api.upstream,
            try request.cachePolicy(),
            clock: clock,
            changeToken: changeToken
        )
    }
}
