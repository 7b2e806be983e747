import Media
import Screens
import Shop
import Upstream

extension Composition {
    /// The Shop app.
    mutating func addShop() {
        guard let catalogue = upstream("catalogue") else { return }
        let logger = self.logger
        let app = ShopApp(
            upstream: catalogue,
            freshness: configuration.shopFreshness,
            categoryFreshness: configuration.categoryFreshness,
            database: database,
            events: events,
            pictures: media.pictures,
            options: configuration.shop,
            clock: clock
        )
        catalogue.onRecovery { await app.refreshAfterRecovery(logger: logger) }
        table.add(app.routes)
        apps.append((ShopApp.name, ShopApp.title))
    }
}
