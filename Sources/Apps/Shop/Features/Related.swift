import Concurrency
import Foundation
import HTTP
import Screens
import Storage
import Upstream

/// Products beside another one: a few of its category, those of the nearest price first.
struct Related: Sendable {
    let products: ProductReader
    let search: ProductSearch

    /// Products that are shown, and those of the category that they are chosen from.
    private static let (shown, considered) = (6, 50)

    /// `GET /v1/shop/products/{id}/related`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (store, id) = (products.store, try products.id("id", in: request))
        let cachePolicy = try request.cachePolicy()
        let ofProduct = store.changeToken(products: [id])
        let readToken = search.readToken()
        let start = SearchPlace(offset: 0)
        let stored: (KnownProduct, ProductSearch.Result)? = try store.database.read { _ in
            guard let known = try store.product(id), !known.isGone else { return nil }
            let query = Self.query(known.product)
            return try search.stored(query, from: start, limit: Self.considered, cachePolicy, since: readToken)
                .map { (known, $0) }
        }
        let (known, found): (KnownProduct, ProductSearch.Result)
        if let stored {
            (known, found) = stored
        } else {
            let query = Self.query(try await products.known(id))
            found = try await search.find(query, from: start, limit: Self.considered, cachePolicy)
            guard let product = try store.product(id) else { throw ProductReader.noProduct }
            known = product
        }
        // The product decides which ones are shown.
        let provenance = found.provenance.including([known.changedAt])
        let screen = RelatedScreen(found.products, beside: known.product, most: Self.shown)
        let meta = Meta(
            screen: "shop.related",
            state: screen.items.isEmpty ? .empty : .content,
            provenance: provenance,
            banner: provenance.offline ? .shopOffline : nil
        )
        return try ScreenResponse.screen(
            Envelope(data: screen, meta: meta, links: Links(self: request.selfLink)),
            provenance: provenance,
            now: products.clock.now(),
            changeToken: found.changeToken?.and(ofProduct)
        )
    }

    private static func query(_ product: Product) -> SearchQuery {
        SearchQuery(filters: SearchFilters(categoryID: product.category?.id))
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
            imageUrl = "/v1/shop/images/\(product.id)/0"
            href = "/v1/shop/products/\(product.id)"
        }
    }

    let items: [Row]
    let empty: EmptyState?

    init(_ products: [Product], beside product: Product, most: Int) {
        func distance(_ other: Product) -> Decimal { abs(other.price.amount - product.price.amount) }
        items = products.filter { $0.id != product.id }.map { (distance: distance($0), product: $0) }
            .sorted { ($0.distance, $0.product.id) < ($1.distance, $1.product.id) }
            .prefix(most).map { Row($0.product) }
        empty = items.isEmpty ? EmptyState(title: .noProducts, text: "", action: .products) : nil
    }
}
