package import Cluster
import Concurrency
import HTTP
import HTTPTypes
import Logging
import Media
package import Screens
package import Storage
import Upstream

/// The Shop app: search with filters and history, product cards, pictures and a shopping list for each profile.
package struct ShopApp: App {
    package static let name = ShopStore.app
    package static let title = Text("Shop", ru: "Магазин")
    package static let migrations = ShopStore.migrations
    package static let replicated: JournalTables? = ShopStore.replicated

    private let search: Search
    private let history: History
    private let filters: Filters
    private let categories: Categories
    private let favourites: Lists
    private let related: Related
    private let cards: Cards
    private let images: Images
    let lists: Lists
    let store: ShopStore
    private let sharing: Sharing
    private let productSearch: ProductSearch
    private let lateResponses: LateResponses
    private let logger: Logger

    /// - Throws: `MissingUpstream` without the catalogue.
    package init(_ context: AppContext) throws {
        let (settings, clock) = (context.settings, context.clock)
        logger = context.logger
        let lateResponses = LateResponses(events: context.events, clock: clock)
        let store = ShopStore(context.database, context.users) { [events = context.events] change in
            switch change {
            case .products: lateResponses.publishChange()
            case .list(let key, let revision): events.publishList(key, revision)
            }
        }
        (self.store, self.lateResponses) = (store, lateResponses)
        let api = CatalogueAPI(
            upstream: try context.upstream(Self.catalogue),
            freshness: settings[Self.freshness],
            categoryFreshness: settings[Self.categoryFreshness]
        )
        let wide = settings[Self.wideCategories]
        let products = ProductReader(api: api, store: store, clock: clock)
        productSearch = ProductSearch(
            api: api,
            store: store,
            lateResponses: lateResponses,
            listCheck: ListedProductCheck(products: products),
            clock: clock
        )
        search = Search(products: productSearch, store: store, wide: wide, clock: clock)
        history = History(store: store)
        categories = Categories(api: api, store: store, wide: wide, clock: clock) {
            lateResponses.publishChange(of: ["shop.categories", "shop.filters"])
        }
        filters = Filters(store: store, categories: categories, products: productSearch, clock: clock)
        favourites = Lists(products: products, store: store, events: context.events, kind: .favourites)
        related = Related(products: products, search: productSearch)
        cards = Cards(products: products, store: store, wide: wide, clock: clock)
        let pictures = ScaledPictures(of: api.upstream, context.media.pictures, clock: clock)
        images = Images(products: products, store: store, pictures: pictures)
        lists = Lists(products: products, store: store, events: context.events)
        sharing = Sharing(products: products, store: store, clock: clock)
    }

    /// The shopping list of the profile, and its favourites if there are some.
    package var userData: UserData? {
        UserData { [store] owner, archive in
            var counts = ["items": try ListArchive.add(store.list(owner.profile, ShopStore.wholeList), to: archive)]
            let favourites = try store.list(ListKind.favourites.key(owner.profile), ShopStore.wholeList)
            if favourites.totals.lines > 0 {
                counts["favourites"] = try ListArchive.add(favourites, as: "favourites", to: archive)
            }
            return counts
        }
    }

    package static var routes: [AppRoute<Self>] {
        [
            Route(.get, "/v1/shop/launch", "shop.launch", showLaunch),
            Route(.get, "/v1/shop/search", "shop.search", { $0.search.show })
                .query("q", "category_id", "price", "price_min", "price_max", "sort", .page, "saved", "refresh"),
            Route(.get, "/v1/shop/suggestions", "shop.suggestions", { $0.search.suggest }).query("q"),
            Route(.get, "/v1/shop/history", "shop.history", { $0.history.show }).query("q"),
            Route(.delete, "/v1/shop/history", "shop.history", { $0.history.clear }).answering(),
            Route(.delete, "/v1/shop/history/{n}", "shop.history", { $0.history.remove }).answering(),
            Route(.get, "/v1/shop/filters", "shop.filters", { $0.filters.show }).query("refresh"),
            Route(.put, "/v1/shop/filters", "shop.filters", { $0.filters.set })
                .answering().body("category_id", "price", "price_min", "price_max"),
            Route(.delete, "/v1/shop/filters", "shop.filters", { $0.filters.reset }).answering(),
            Route(.get, "/v1/shop/categories", "shop.categories", { $0.categories.show }).query(.page, "refresh"),
            Route(.get, "/v1/shop/categories/{id}/image", "shop.image", { $0.images.showCategory })
                .query("width", "refresh"),
            Route(.get, "/v1/shop/favourites", "shop.favourites", { $0.favourites.show }).query(.page),
            Route(.post, "/v1/shop/favourites", "shop.favourites", { $0.favourites.add })
                .answering().query(.page).body("product_id"),
            Route(.delete, "/v1/shop/favourites/{item_id}", "shop.favourites", { $0.favourites.remove })
                .answering().query(.page),
            Route(.get, "/v1/shop/products/{id}", "shop.card", { $0.cards.show }).query("refresh"),
            Route(.get, "/v1/shop/products/{id}/related", "shop.related", { $0.related.show }).query("refresh"),
            Route(.get, "/v1/shop/products/{id}/share", "shop.share", { $0.sharing.showProduct }).query("refresh"),
            Route(.get, "/v1/shop/images/{id}/{n}", "shop.image", { $0.images.show }).query("width", "refresh"),
            Route(.get, "/v1/shop/list", "shop.list", { $0.lists.show }).query(.page),
            Route(.delete, "/v1/shop/list", "shop.list", { $0.lists.clear }).answering().query(.page),
            Route(.post, "/v1/shop/list/items", "shop.list", { $0.lists.add }).answering().query(.page).body(
                "product_id",
                "quantity"
            ),
            Route(.patch, "/v1/shop/list/items/{item_id}", "shop.list", { $0.lists.changeLine })
                .answering().query(.page)
                .body("by", "quantity", "bought"),
            Route(.delete, "/v1/shop/list/items/{item_id}", "shop.list", { $0.lists.remove }).answering().query(.page),
            Route(.get, "/v1/shop/list/items/{item_id}/image", "shop.image", { $0.images.showListItem })
                .query("width", "refresh"),
            Route(.get, "/v1/shop/list/items/{item_id}/share", "shop.share", { $0.sharing.showListItem }),
            Route(.put, "/v1/shop/list/order", "shop.list", { $0.lists.order }).answering().query(.page).body(
                "item_ids",
                "product_ids"
            ),
            Route(.get, "/v1/shop/list/share", "shop.share", { $0.sharing.showList }),
        ].withProfiles()
    }

    /// Refreshes the categories and the first page of all products after the upstream recovers, and notifies listeners
    /// that searches may find something else: other pages and cards are refreshed when they are next requested.
    ///
    /// A failure is logged and not retried: the upstream's health knows of it, and the next recovery calls this again.
    package func upstreamRecovered(_ upstream: UpstreamDescription) async {
        do {
            _ = try await categories.refresh(.useCache)
            _ = try await productSearch.find(
                SearchQuery(),
                from: SearchStart(offset: 0),
                limit: Search.defaultLimit,
                .useCache
            )
        } catch {
            logger.warning("the catalogue could not be refreshed after recovery", metadata: ["error": "\(error)"])
        }
        lateResponses.publishChange()
    }

    /// `GET /v1/shop/launch`: every cold start shows the last search.
    private func showLaunch(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        let screen = LaunchScreen(route: ScreenLink("shop.search", "/v1/shop/search?saved=1"))
        return try ScreenResponse.local(screen, "shop.launch", request, changeToken: .unlimited).byProfile()
    }
}
