import Freshness
import Screens
import Upstream

/// The pictures of ships.
struct Images: Sendable {
    let api: SpaceXAPI
    let store: ShipStore
    let lookup: ShipLookup
    let clock: WallClock

    /// `GET /v1/ships/{id}/image`: the picture of a ship, or a placeholder that is not stored. Only URLs that the API
    /// named are fetched.
    func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let changeToken = store.changeToken(account: session.account)
        let id = try lookup.id(in: request)
        return try await .picture(
            at: { try lookup.ship(id, visibleTo: session).ship.imageURL },
            of: api.upstream,
            try request.cachePolicy(),
            clock: clock,
            changeToken: changeToken
        )
    }
}
