import Concurrency
import HTTP
import Screens
import Storage
import Upstream

/// The cards of products.
struct Cards: Sendable {
    let products: ProductReader
    let store: ShopStore
    let wide: [String]
    let clock: WallClock

    /// `GET /v1/shop/products/{id}`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try products.id("id", in: request)
        let cachePolicy = try request.cachePolicy()
        let shown = store.changeToken(products: [id])
            .and(ChangeToken(of: store.profileChanges[ListKind.favourites.key(profile)]))
        let (lag, changeToken) = try await store.catchUp(profile)
        let readToken = products.api.upstream.readToken()
        let stored: (ProductReader.Result, CartLines)? = try store.database.read { _ in
            try products.stored(id, cachePolicy, since: readToken).map {
                ($0, try store.cart(of: [$0.product], profile))
            }
        }
        let (read, lines): (ProductReader.Result, CartLines)
        if let stored {
            (read, lines) = stored
        } else {
            read = try await products.read(id, cachePolicy)
            lines = try store.cart(of: [read.product], profile)
        }
        let layout = Layout(of: read.product.category, wide: wide)
        let meta = Meta(
            screen: "shop.card",
            provenance: read.provenance,
            banner: read.provenance.offline ? .shopOffline : nil
        ).lagging(lag)
        return try ScreenResponse.screen(
            Envelope(
                data: CardScreen(read.product, lines, layout: layout),
                meta: meta,
                links: Links(self: request.selfLink)
            ),
            provenance: read.provenance,
            now: clock.now(),
            changeToken: changeToken.flatMap { read.changeToken?.and(shown).and($0) }
        ).byProfile()
    }
}
