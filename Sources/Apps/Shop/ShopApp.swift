package import Cluster
import Concurrency
import HTTPTypes
import Logging
package import Screens
package import Storage
import Upstream

/// The Shop app: search with filters and history, product cards, pictures and a shopping list for each profile.
package struct ShopApp: App {
    package static let name = ShopStore.app
    package static let title = Text("Shop", ru: "Магазин")
    package static let migrations = ShopStore.migrations
    package static let replicated: JournalTables? = ShopStore.replicated

    let shop: Shop

    private var search: Search { Search(shop: shop) }
    private var history: History { History(shop: shop) }
    private var filters: Filters { Filters(shop: shop) }
    private var favourites: Lists { Lists(shop: shop, kind: .favourites) }
    private var related: Related { Related(shop: shop) }
    private var cards: Cards { Cards(shop: shop) }
    private var images: Images { Images(shop: shop) }
    private var lists: Lists { Lists(shop: shop) }
    private var sharing: Sharing { Sharing(shop: shop) }

    /// - Throws: `MissingUpstream` without the catalogue.
    package init(_ context: AppContext) throws { shop = try Shop(context) }

    /// The shopping list of the profile, and its favourites if there are some.
    package var userData: UserData? {
        UserData { [store = shop.store] owner, archive in
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
                .query(
                    "q",
                    "category_id",
                    "price",
                    "price_min",
                    "price_max",
                    "sort",
                    .page,
                    "saved",
                    "peek",
                    "refresh"
                ),
            Route(.get, "/v1/shop/suggestions", "shop.suggestions", { $0.search.suggest }).query("q"),
            Route(.get, "/v1/shop/history", "shop.history", { $0.history.show }).query("q"),
            Route(.delete, "/v1/shop/history", "shop.history", { $0.history.clear }).answering(),
            Route(.delete, "/v1/shop/history/{n}", "shop.history", { $0.history.remove }).answering(),
            Route(.get, "/v1/shop/filters", "shop.filters", { $0.filters.show }).query("refresh"),
            Route(.put, "/v1/shop/filters", "shop.filters", { $0.filters.set })
                .answering().body("category_id", "price", "price_min", "price_max"),
            Route(.delete, "/v1/shop/filters", "shop.filters", { $0.filters.reset }).answering(),
            Route(.get, "/v1/shop/categories", "shop.categories", { $0.shop.categories.show }).query(.page, "refresh"),
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
            Route(.post, "/v1/shop/list/items", "shop.list", { $0.lists.add })
                .answering().query(.page).body("product_id", "quantity"),
            Route(.patch, "/v1/shop/list/items/{item_id}", "shop.list", { $0.lists.changeLine })
                .answering().query(.page).body("by", "quantity", "bought"),
            Route(.delete, "/v1/shop/list/items/{item_id}", "shop.list", { $0.lists.remove }).answering().query(.page),
            Route(.get, "/v1/shop/list/items/{item_id}/image", "shop.image", { $0.images.showListItem })
                .query("width", "refresh"),
            Route(.get, "/v1/shop/list/items/{item_id}/share", "shop.share", { $0.sharing.showListItem }),
            Route(.put, "/v1/shop/list/order", "shop.list", { $0.lists.order })
                .answering().query(.page).body("item_ids", "product_ids"),
            Route(.get, "/v1/shop/list/share", "shop.share", { $0.sharing.showList }),
        ].withProfiles()
    }

    /// Refreshes the categories and the first page of all products after the upstream recovers, and notifies listeners
    /// that searches may have other results. Other pages and cards are refreshed at their next request.
    ///
    /// A failure is logged and not retried: the upstream's health knows of it, and the next recovery calls this again.
    package func upstreamRecovered(_ upstream: UpstreamDescription) async {
        do {
            _ = try await shop.categories.refresh(.useCache)
            let start = SearchStart(offset: 0)
            _ = try await shop.search.find(SearchQuery(), from: start, limit: Search.defaultLimit, .useCache)
        } catch {
            shop.logger.warning("the catalogue could not be refreshed after recovery", metadata: ["error": "\(error)"])
        }
        shop.events.publishCatalogue(at: shop.clock.now())
    }

    /// `GET /v1/shop/launch`: every cold start shows the last search.
    private func showLaunch(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        let screen = LaunchScreen(route: ScreenLink("shop.search", "/v1/shop/search?saved=1"))
        return try ScreenResponse.local(screen, "shop.launch", request, changeToken: .unlimited).byProfile()
    }
}
