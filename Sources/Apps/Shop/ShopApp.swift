public import AppInterface
import Logging
import Media
public import Screens
import Settings
public import Storage

/// The Shop app.
public struct ShopApp: App {
    /// Name of the app.
    public static let name = "shop"
    /// Title of the app.
    public static let title = "Shop"
    /// The app's tables.
    public static let migrations = ShopStore.migrations
    private let service: ShopService
    private let logger: Logger

    /// Creates the app.
    public init(_ context: AppContext) throws {
        service = ShopService(
            api: CatalogueAPI(
                upstream: try context.upstream(Self.catalogue),
                freshness: try context.settings.seconds("freshness.shop_s"),
                categoryFreshness: try context.settings.seconds("freshness.categories_s")
            ),
            store: ShopStore(context.database),
            events: context.events,
            pictures: context.media.pictures,
            options: ShopService.Options(wideCategories: try context.settings.list("shop.wide_categories")),
            clock: context.clock
        )
        logger = context.logger
    }

    /// The routes.
    public var routes: [Route] { ShopRoutes(service: service).routes }

    /// Refreshes categories and products.
    public func upstreamRecovered(_ upstream: UpstreamDescription) async {
        await service.refreshAfterRecovery(logger: logger)
    }
}
