import Foundation
import Freshness
import Screens
import Upstream

/// The details of one ship. They are part of the list's response, so they need no request of their own.
struct Details: Sendable {
    let refresher: ShipRefresher
    let ships: any ShipLists
    let lookup: ShipLookup
    let clock: WallClock

    /// `GET /v1/ships/{id}`.
    func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let id = try lookup.id(in: request)
        let changeToken = ships.changeToken(account: session.account)
        let reading = ships.ship(id, account: session.account)
        let (result, found) = try await refresher.refresh(try request.cachePolicy(), reading: reading)
        let ship = try lookup.visible(found, id)
        let provenance = result.provenance
        let meta = Meta(
            screen: "ships.details",
            provenance: provenance,
            revision: ship.revision,
            banner: provenance.offline ? .shipsOffline : nil
        )
        var response = try ScreenResponse.screen(
            Envelope(data: ShipDetailsScreen(ship.ship), meta: meta, links: Links(self: request.selfLink)),
            provenance: provenance,
            now: clock.now(),
            changeToken: result.changeToken?.and(changeToken)
        )
        response.version = String(ship.revision)
        return response
    }
}
