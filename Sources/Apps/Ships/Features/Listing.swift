import Foundation
import Freshness
import Screens
import Upstream

/// The list of ships.
struct Listing: Sendable {
    let refresher: ShipRefresher
    let ships: any ShipLists
    let clock: WallClock

    /// `GET /v1/ships`.
    func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let page = try request.query.page(of: ShipListing.list, maximumLimit: 500)
        let since = try request.query.integer("since_revision", in: 0...Int.max)
        let changeToken = ships.changeToken(account: session.account)
        let reading = ships.listing(account: session.account, page: page, since: since)
        let (result, listing) = try await refresher.refresh(try request.cachePolicy(), reading: reading)
        let provenance = result.provenance
        let shown = Page(page, count: listing.ships.count, total: listing.counts.total, hasMore: listing.hasMore)
        let meta = Meta(
            screen: "ships.list",
            state: listing.isEmpty ? .empty : .content,
            provenance: provenance,
            revision: listing.counts.revision,
            banner: provenance.offline ? .shipsOffline : nil,
            page: shown
        )
        let screen = ShipListScreen(listing, for: session.kind)
        var response = try ScreenResponse.screen(
            Envelope(data: screen, meta: meta, links: request.links(for: shown, next: listing.next)),
            provenance: provenance,
            now: clock.now(),
            changeToken: result.changeToken?.and(changeToken)
        )
        response.version = String(listing.counts.revision)
        return response
    }
}
