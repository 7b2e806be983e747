import Concurrency
import Foundation
import Logging
import Media
import Screens
import Storage

/// The parts of the app: features take them as one value.
struct Shop: Sendable {
    let store: ShopStore
    let api: CatalogueAPI
    let pictures: ScaledPictures
    let events: EventStream
    let clock: WallClock
    let logger: Logger
    /// The categories whose products take a whole row, by id or name.
    let wide: [String]
    let lateResponses = LateResponses()
    let listCheck = ListedProductCheck()

    /// - Throws: `MissingUpstream` without the catalogue.
    init(_ context: AppContext) throws {
        let (events, clock, settings) = (context.events, context.clock, context.settings)
        (self.events, self.clock, logger) = (events, clock, context.logger)
        wide = settings[ShopApp.wideCategories]
        store = ShopStore(context.database, context.users) { change in
            switch change {
            case .products: events.publishCatalogue(at: clock.now())
            case .list(let key, let revision): events.publishList(key, revision)
            }
        }
        api = CatalogueAPI(upstream: try context.upstream(ShopApp.catalogue), settings: settings)
        pictures = ScaledPictures(of: api.upstream, context.media.pictures, clock: clock)
    }

    /// Writes the products of a response.
    var save: CatalogueAPI.Save<Product> { store.save(fetchedAt: clock.now) }
    var reader: ProductReader { ProductReader(shop: self) }
    var search: ProductSearch { ProductSearch(shop: self) }
    var categories: Categories { Categories(shop: self) }
}

extension EventStream {
    /// Publishes to all listeners at this server that screens of the catalogue may show something else now: the others
    /// have copies of the catalogue's responses of their own.
    func publishCatalogue(
        _ screens: [String] = ["shop.search", "shop.card", "shop.related", "shop.filters"],
        at now: Date
    ) {
        let (app, revision) = (ShopApp.name, Int(now.millisecondsSince1970))
        for screen in screens {
            publish(.screenChanged(app: app, screen: screen, revision: revision, audience: .app(app)), isOwn: true)
        }
    }

    /// Publishes a new revision of a list to its profile.
    func publishList(_ key: String, _ revision: Int) {
        let (kind, profile) = ListKind.read(key)
        // The card shows whether its product is a favourite.
        let screens = kind == .list ? [kind.screen] : [kind.screen, "shop.card"]
        publish(screens, of: ShopApp.name, revision, to: .profile(app: ShopApp.name, profile: profile))
    }
}
