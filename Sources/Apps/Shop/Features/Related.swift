import Concurrency
import Foundation
import HTTP
import Screens
import Storage
import Upstream

/// Products beside another one: a few of its category, those of the nearest price first.
struct Related: Sendable {
    let shop: Shop

    /// Products that are shown, and those of the category that they are chosen from.
    private static let (shown, considered) = (6, 50)

    /// `GET /v1/shop/products/{id}/related`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try ProductReader.id(in: request)
        let ofProduct = shop.store.changeToken(products: [id])
        let (known, found) = try await read(id, try request.cachePolicy())
        // The product decides which ones are shown.
        let provenance = found.provenance.including([known.changedAt])
        let screen = RelatedScreen(
            found.products,
            beside: known.product,
            most: Self.shown,
            isPartial: found.isPartial
        )
        let meta = Meta(
            screen: "shop.related",
            state: screen.items.isEmpty ? .empty : .content,
            provenance: provenance,
            partial: found.isPartial ? true : nil,
            banner: provenance.offline ? .shopOffline : nil
        )
        return try ScreenResponse.screen(
            Envelope(data: screen, meta: meta, links: Links(self: request.selfLink)),
            provenance: provenance,
            now: shop.clock.now(),
            changeToken: found.changeToken?.and(ofProduct)
        )
    }

    /// Returns a product and those that are considered beside it: none if it has no category.
    private func read(_ id: Int, _ cachePolicy: CachePolicy) async throws -> (KnownProduct, ProductSearch.Result) {
        let (store, start) = (shop.store, SearchStart(offset: 0))
        let readToken = shop.search.readToken()
        let stored: (KnownProduct, ProductSearch.Result)? = try store.database.read { _ in
            guard let known = try store.product(id), !known.isGone, let query = Self.query(known.product) else {
                return nil
            }
            return try shop.search.stored(query, from: start, limit: Self.considered, cachePolicy, since: readToken)
                .map { (known, $0) }
        }
        if let stored { return stored }
        let found: ProductSearch.Result
        if let query = Self.query(try await shop.reader.known(id)) {
            found = try await shop.search.find(query, from: start, limit: Self.considered, cachePolicy)
        } else {
            let product = try await shop.reader.read(id, cachePolicy)
            found = .init(products: [], provenance: product.provenance, changeToken: product.changeToken)
        }
        guard let known = try store.product(id) else { throw ProductReader.noProduct }
        return (known, found)
    }

    private static func query(_ product: Product) -> SearchQuery? {
        product.category.map { SearchQuery(filters: SearchFilters(categoryID: $0.id)) }
    }
}

/// `GET /v1/shop/products/{id}/related`.
struct RelatedScreen: Encodable, Sendable {
    /// A product in few words.
    struct Row: Encodable, Sendable {
        let id: Int
        let title: String
        let price: Price
        let priceText: Text
        let imageUrl: Link
        let href: Link

        init(_ product: Product) {
            (id, title, price, priceText) = (product.id, product.title, product.price, product.price.text)
            imageUrl = product.imageURL()
            href = product.href
        }
    }

    let items: [Row]
    let empty: EmptyState?

    /// - Parameter isPartial: Whether only products that were ever seen were searched.
    init(_ products: [Product], beside product: Product, most: Int, isPartial: Bool) {
        func distance(_ other: Product) -> Decimal { abs(other.price.amount - product.price.amount) }
        items = products.filter { $0.id != product.id }.map { (distance: distance($0), product: $0) }
            .sorted { ($0.distance, $0.product.id) < ($1.distance, $1.product.id) }
            .prefix(most).map { Row($0.product) }
        let nothing: EmptyState =
            isPartial
            ? EmptyState(title: .catalogueAway, text: .nothingAmongSeen, action: .products)
            : EmptyState(title: .noProducts, text: "", action: .products)
        empty = items.isEmpty ? nothing : nil
    }
}
