import Screens
import Ships
import Upstream

extension Composition {
    /// The Ships app.
    mutating func addShips() throws {
        guard let spacex = upstream("spacex") else { return }
        let logger = self.logger
        let app = try ShipsApp(
            upstream: spacex,
            freshness: configuration.shipsFreshness,
            database: database,
            sessions: sessions,
            events: events,
            options: configuration.ships,
            clock: clock
        )
        spacex.onRecovery { await app.refreshAfterRecovery(logger: logger) }
        table.add(app.routes)
        apps.append((ShipsApp.name, ShipsApp.title))
    }
}
