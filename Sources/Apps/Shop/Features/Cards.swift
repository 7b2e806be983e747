import Concurrency
import HTTP
import Screens
import Storage
import Upstream

struct Cards: Sendable {
    let shop: Shop

    /// `GET /v1/shop/products/{id}`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try ProductReader.id(in: request)
        let cachePolicy = try request.cachePolicy()
        let shown = shop.store.changeToken(products: [id])
            .and(ChangeToken(of: shop.store.profileChanges[ListKind.favourites.key(profile)]))
        let (lag, changeToken) = try await shop.store.catchUp(profile)
        let readToken = shop.api.upstream.readToken()
        let stored: (ProductReader.Result, CartLines)? = try shop.store.database.read { _ in
            try shop.reader.stored(id, cachePolicy, since: readToken).map {
                ($0, try shop.store.cart(of: [$0.product], profile))
            }
        }
        let (read, lines): (ProductReader.Result, CartLines)
        if let stored {
            (read, lines) = stored
        } else {
            read = try await shop.reader.read(id, cachePolicy)
            lines = try shop.store.cart(of: [read.product], profile)
        }
        let layout = Layout(of: read.product.category, wide: shop.wide)
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
            now: shop.clock.now(),
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
