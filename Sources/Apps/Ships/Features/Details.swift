import Foundation
import Freshness
import Screens
import Upstream

/// The details of one ship. They are part of the list's response, so they need no request of their own.
struct Details: Sendable {
    let refresher: ShipRefresher
    let store: ShipStore
    let lookup: ShipLookup
    let clock: WallClock

    /// `GET /v1/ships/{id}`.
    func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let id = try lookup.id(in: request)
        let changeToken = store.changeToken(account: session.account)
        let (result, ship) = try await refresher.refresh(try request.cachePolicy()) { db in
            try lookup.ship(id, visibleTo: session, in: db)
        }
        let provenance = result.provenance
        let meta = Meta(
            screen: "ships.details",
            provenance: provenance,
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
