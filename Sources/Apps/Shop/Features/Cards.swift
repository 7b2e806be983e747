import Database
import Freshness
import Screens
import Upstream

/// The cards of products.
struct Cards: Sendable {
    let products: ProductReader
    let store: ShopStore
    let profiles: any ShopProfiles
    let wide: [String]
    let clock: WallClock

    /// `GET /v1/shop/products/{id}`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try products.id("id", in: request)
        let cachePolicy = try request.cachePolicy()
        let changeToken = profiles.changeToken(profile).and(store.changeToken(products: [id]))
        let cart = try await profiles.cartReader(profile, of: [id])
        let witness = products.api.upstream.witness()
        let stored: (ProductReader.Result, CartLines)? = try store.database.read { _ in
            try products.stored(id, cachePolicy, since: witness).map { ($0, try cart([$0.product])) }
        }
        let (read, lines): (ProductReader.Result, CartLines)
        if let stored {
            (read, lines) = stored
        } else {
            read = try await products.read(id, cachePolicy)
            lines = try await profiles.cartReader(profile, of: [id])([read.product])
        }
        let layout = Layout(of: read.product.category, wide: wide)
        let meta = Meta(
            screen: "shop.card",
            provenance: read.provenance,
            banner: read.provenance.offline ? .shopOffline : nil
        )
        return try ScreenResponse.screen(
            Envelope(
                data: CardScreen(read.product, lines[id], isListFull: lines.isListFull, layout: layout),
                meta: meta,
                links: Links(self: request.selfLink)
            ),
            provenance: read.provenance,
            now: clock.now(),
            changeToken: read.changeToken?.and(changeToken)
        ).byProfile()
    }
}
