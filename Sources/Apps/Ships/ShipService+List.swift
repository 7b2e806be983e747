import Foundation
import Screens
import Upstream

extension ShipService {
    /// `GET /v1/ships`.
    @Sendable func list(_ request: ScreenRequest) async throws -> Reply {
        let session = try request.requiredSession()
        let page = try request.query.page(maximumLimit: 500)
        let since = try request.query.integer("since_revision", in: 0...Int.max)
        let provenance = try await refresh(try request.demand())
        if options.deletion == .literal, provenance.source == .upstream {
            _ = try await store.restore(nil, account: session.account)
        }
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
        return try .screen(Envelope(data: screen, meta: meta, links: request.links(for: shown)), provenance: provenance, now: clock.now())
    }

    /// `GET /v1/ships/{id}`. A deleted ship is 404 `ship-deleted`, an unknown one 404 `not-found`.
    @Sendable func details(_ request: ScreenRequest) async throws -> Reply {
        let session = try request.requiredSession()
        let id = try request.parameter("id")
        let provenance = try await refresh(try request.demand())
        let ship = try visibleShip(id, session)
        let meta = Meta(screen: "ships.details", provenance: provenance, banner: provenance.offline ? .shipsOffline : nil)
        return try .screen(
            Envelope(data: ShipDetailsScreen(ship), meta: meta, links: Links(self: request.selfLink)),
            provenance: provenance,
            now: clock.now()
        )
    }

    /// `DELETE /v1/ships/{id}`: local, also offline; the upstream is never asked.
    @Sendable func delete(_ request: ScreenRequest) async throws -> Reply {
        let session = try request.requiredSession()
        let id = try request.parameter("id")
        _ = try visibleShip(id, session)
        // Somebody with the same account may have been faster.
        guard let counts = try await store.hide(id, account: session.account) else { throw Self.deleted }
        announce(counts.revision, to: session)
        return try answer([id], counts, to: request)
    }

    /// `POST /v1/ships/restore`: all that the account deleted, or those of `{"ids": […]}`.
    @Sendable func restore(_ request: ScreenRequest) async throws -> Reply {
        let session = try request.requiredSession()
        let body = try await request.body()
        let ids = body.isEmpty ? nil : try JSONFields(body).strings("ids")
        if let ids {
            let unknown = try store.unknown(among: ids)
            let errors = ids.enumerated().filter { unknown.contains($0.element) }.map { index, _ in
                Problem.FieldError.field("/ids/\(index)", "unknown", "ids[\(index)] is no ship.")
            }
            guard errors.isEmpty else { throw Problem.validation(errors) }
        }
        let (restored, counts) = try await store.restore(ids, account: session.account)
        if !restored.isEmpty { announce(counts.revision, to: session) }
        return try answer(restored, counts, to: request)
    }

    private func answer(_ ids: [String], _ counts: ShipListing.Counts, to request: ScreenRequest) throws -> Reply {
        let screen = ShipChangeScreen(ids: ids, revision: counts.revision, hiddenCount: counts.hidden)
        let meta = Meta(screen: "ships.list", provenance: .local, revision: counts.revision)
        return try .screen(Envelope(data: screen, meta: meta, links: Links(self: "/v1/ships")), provenance: .local, now: clock.now())
    }

    private func announce(_ revision: Int, to session: Session) {
        events.publish(
            .screenChanged(
                app: "ships",
                screen: "ships.list",
                revision: revision,
                audience: .account(app: "ships", account: session.account)
            )
        )
    }

    func visibleShip(_ id: String, _ session: Session) throws -> Ship {
        guard let (ship, isHidden) = try store.ship(id, account: session.account) else { throw Problem.notFound("There is no ship \(id).") }
        guard !isHidden else { throw Self.deleted }
        return ship
    }

    private static let deleted = Problem(.shipDeleted, "You deleted this ship; POST /v1/ships/restore brings it back.")
}
