import Foundation
import Screens
import Upstream

extension ShipService {
    /// `GET /v1/ships`.
    @Sendable func list(_ request: ScreenRequest) async throws -> ScreenResponse {
        let session = try request.requiredSession()
        let page = try request.query.page(maximumLimit: 500)
        let since = try request.query.integer("since_revision", in: 0...Int.max)
        let ownValidity = store.changeToken(account: session.account)
        let reading = try await refresh(try request.cachePolicy())
        let provenance = reading.provenance
        let listing = try store.list(account: session.account, page: page, since: since)
        let shown = Page(page, count: listing.ships.count, total: listing.counts.total)
        let isEmpty = listing.counts.total == 0
        let screen = ShipListScreen(
            items: listing.ships.map(ShipListScreen.Row.init),
            revision: listing.counts.revision,
            changes: listing.changes,
            hiddenCount: listing.counts.hidden,
            navButton: .init(session.kind),
            empty: isEmpty ? .init() : nil
        )
        let meta = Meta(
            screen: "ships.list",
            state: isEmpty ? .empty : .content,
            provenance: provenance,
            revision: listing.counts.revision,
            banner: provenance.offline ? .shipsOffline : nil,
            page: shown
        )
        return try .screen(
            Envelope(data: screen, meta: meta, links: request.links(for: shown)),
            provenance: provenance,
            now: clock.now(),
            changeToken: reading.changeToken?.and(ownValidity)
        )
    }

    /// `GET /v1/ships/{id}`. A deleted ship is 404 `ship-deleted`, an unknown one 404 `not-found`.
    @Sendable func details(_ request: ScreenRequest) async throws -> ScreenResponse {
        let session = try request.requiredSession()
        let id = try shipID(in: request)
        let ownValidity = store.changeToken(account: session.account)
        let reading = try await refresh(try request.cachePolicy())
        let provenance = reading.provenance
        let ship = try visibleShip(id, session)
        let meta = Meta(
            screen: "ships.details",
            provenance: provenance,
            banner: provenance.offline ? .shipsOffline : nil
        )
        return try .screen(
            Envelope(data: ShipDetailsScreen(ship), meta: meta, links: Links(self: request.selfLink)),
            provenance: provenance,
            now: clock.now(),
            changeToken: reading.changeToken?.and(ownValidity)
        )
    }

    /// The id in the path; 404 for what cannot be the id of a ship, before anybody is asked for it.
    func shipID(in request: ScreenRequest) throws -> String {
        let id = try request.parameter("id")
        guard Ship.isIdentity(id) else { throw Self.unknown(id) }
        return id
    }

    /// A ship that the session's account sees: 404 `not-found` where there is none, `ship-deleted` where the account
    /// deleted it.
    func visibleShip(_ id: String, _ session: Session) throws -> Ship {
        guard let (ship, isHidden) = try store.ship(id, account: session.account) else { throw Self.unknown(id) }
        guard !isHidden else { throw Self.deleted }
        return ship
    }

    private static func unknown(_ id: String) -> Problem { .notFound("There is no ship \(id).") }

    static let deleted = Problem(.shipDeleted, "You deleted this ship; POST /v1/ships/restore brings it back.")
}
