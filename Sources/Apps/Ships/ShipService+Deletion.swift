import Screens
import Upstream

extension ShipService {
    /// `DELETE /v1/ships/{id}`: local, also offline; the upstream is never asked.
    @Sendable func delete(_ request: ScreenRequest) async throws -> ScreenResponse {
        let session = try request.requiredSession()
        let id = try shipID(in: request)
        _ = try visibleShip(id, session)
        // Somebody with the same account may have been faster.
        guard let counts = try await store.hide(id, account: session.account) else { throw Self.deleted }
        lastRefresh.moves(to: clock.now())
        announce(counts.revision, to: session.account)
        return try response([id], counts, to: request)
    }

    /// `POST /v1/ships/restore`: all that the account deleted, or those of `{"ids": […]}`.
    @Sendable func restore(_ request: ScreenRequest) async throws -> ScreenResponse {
        let session = try request.requiredSession()
        let ids = try await request.optionalJSONObject()?.strings("ids")
        if let ids {
            guard ids.count <= Self.mostIDs else {
                throw Problem.validation([
                    .field(
                        "/ids",
                        "too-long",
                        "ids may have \(Self.mostIDs) entries; without ids everything is restored."
                    )
                ])
            }
            let unknown = try store.unknown(among: ids)
            let errors = ids.enumerated().filter { unknown.contains($0.element) }.map { index, _ in
                Problem.FieldError.field("/ids/\(index)", "unknown", "ids[\(index)] is no ship.")
            }
            guard errors.isEmpty else { throw Problem.validation(errors) }
        }
        let (restored, counts) = try await store.restore(ids, account: session.account)
        if !restored.isEmpty { announce(counts.revision, to: session.account) }
        return try response(restored, counts, to: request)
    }

    /// Most ids that one request may name, so that what is wrong with them fits into a response.
    private static let mostIDs = 500

    private func response(_ ids: [String], _ counts: ShipListing.Counts, to request: ScreenRequest) throws
        -> ScreenResponse
    {
        let screen = ShipChangeScreen(ids: ids, revision: counts.revision, hiddenCount: counts.hidden)
        let meta = Meta(screen: "ships.list", provenance: .local, revision: counts.revision)
        return try .screen(
            Envelope(data: screen, meta: meta, links: Links(self: "/v1/ships")),
            provenance: .local,
            now: clock.now()
        )
    }

    /// What a refresh does to deletions in literal mode: whoever deleted something has it again.
    func bringBackDeleted() async throws {
        for account in try store.accountsWithHiddenShips() {
            let (restored, counts) = try await store.restore(nil, account: account)
            if !restored.isEmpty { announce(counts.revision, to: account) }
        }
    }

    private func announce(_ revision: Int, to account: String) {
        events.publish(
            .screenChanged(
                app: "ships",
                screen: "ships.list",
                revision: revision,
                audience: .account(app: "ships", account: account)
            )
        )
    }
}
