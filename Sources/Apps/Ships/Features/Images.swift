import HTTPTypes
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
        let ship = try lookup.ship(try lookup.id(in: request), visibleTo: session)
        guard let url = ship.imageURL else { return .placeholder() }
        do {
            let (result, body) = try await api.readPicture(at: url, try request.cachePolicy())
            guard let body, let type = PictureType(of: body) else {
                return .placeholder(for: result.provenance)
            }
            return .picture(
                body,
                type: type,
                provenance: result.provenance,
                now: clock.now(),
                changeToken: result.changeToken?.and(changeToken)
            )
        } catch let failure as UpstreamFailure where failure.error != .notStored {
            return .placeholder(after: failure.error)
        }
    }
}
