import Media
import Screens
import Shop
import Upstream

extension Composition {
    /// The Shop app.
    mutating func addShop() {
        guard let catalogue = upstream("catalogue") else { return }
        let logger = self.logger
        let service = ShopService(
            api: CatalogueAPI(
                upstream: catalogue,
                freshness: configuration.shopFreshness,
                categoryFreshness: configuration.categoryFreshness
            ),
            store: ShopStore(database),
            events: events,
            pictures: media.pictures,
            options: configuration.shop,
            clock: clock
        )
        catalogue.onRecovery { await service.refreshAfterRecovery(logger: logger) }
        table.add(ShopRoutes(service: service).routes)
        apps.append(("shop", "Shop"))
    }
}
