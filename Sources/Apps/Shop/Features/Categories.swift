import Freshness
import Screens
import Upstream

/// The categories of the catalogue.
struct Categories: Sendable {
    let api: CatalogueAPI
    let store: ShopStore
    let options: ShopApp.Options
    let clock: WallClock

    /// `GET /v1/shop/categories`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let changeToken = ChangeToken(of: store.catalogueChanges)
        let result = try await refresh(try request.cachePolicy())
        let provenance = result.provenance
        let screen = CategoriesScreen(try store.categories(), options)
        let meta = Meta(
            screen: "shop.categories",
            state: screen.items.isEmpty ? .empty : .content,
            provenance: provenance,
            banner: provenance.offline ? .shopOffline : nil
        )
        return try .screen(
            Envelope(data: screen, meta: meta, links: Links(self: request.selfLink)),
            provenance: provenance,
            now: clock.now(),
            changeToken: result.changeToken?.and(changeToken)
        )
    }

    /// Reads the categories from the API into the store.
    ///
    /// - Throws: `UpstreamFailure`, `StorageError`, `CancellationError`.
    func refresh(_ cachePolicy: CachePolicy) async throws -> ReadResult {
        try await api.readCategories(cachePolicy, save: store.saveCategories())
    }
}
