import Concurrency
import Foundation
import HTTP
import Screens
import Storage
import Synchronization
import Upstream

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

/// `GET /v1/shop/products/{id}`.
struct CardScreen: Encodable, Sendable {
    @Flattened var product: ProductSummary
    /// At least one: a product without pictures has the placeholder.
    let imageUrls: [Link]
    /// Which of how many each picture is.
    let imageTexts: [String]
    /// Puts the product on the list, or shows the list.
    let button: Action
    /// Adds the product to the favourites, or takes it away.
    let favourite: Action
    /// Products of the same category.
    let relatedHref: Link
    let shareText: Text

    init(_ product: Product, _ lines: CartLines, layout: Layout) {
        let (line, isListFull) = (lines[product.id], lines.isListFull)
        favourite = .favourite(product.id, lines.favourites[product.id]?.id)
        relatedHref = "\(product.href)/related"
        self.product = ProductSummary(product, line, isListFull: isListFull, layout: layout)
        let numbers = 0..<max(1, product.images.count)
        imageUrls = numbers.map(product.imageURL)
        imageTexts = numbers.map { "\($0 + 1)/\(numbers.count)" }
        button = line == nil ? .add(product.id, isListFull: isListFull) : .openList
        shareText = product.shareText
    }
}
