import Screens
import Ships
import Upstream

extension Composition {
    /// The Ships app.
    mutating func addShips() throws {
        guard let spacex = upstream("spacex") else { return }
        let logger = self.logger
        let service = ShipService(
            api: SpaceXAPI(upstream: spacex, freshness: configuration.shipsFreshness),
            store: ShipStore(database),
            sessions: sessions,
            events: events,
            snapshot: try .bundled(),
            options: configuration.ships,
            clock: clock
        )
        spacex.onRecovery { await service.refreshAfterRecovery(logger: logger) }
        table.add(ShipsRoutes(service: service).routes)
        apps.append(("ships", "SpaceX ships"))
    }
}
