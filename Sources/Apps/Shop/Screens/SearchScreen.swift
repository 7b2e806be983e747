import Screens

/// `GET /v1/shop/search`.
struct SearchScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: Int
        let title: String
        let price: Price
        let currency = "USD"
        let priceText: String
        let description: String
        @Nullable var category: CategoryName?
        let image: String
        let layout: Layout
        let cart: Cart
        let href: String

        init(_ product: Product, quantity: Int?, layout: Layout) {
            id = product.id
            title = product.title
            price = product.price
            priceText = product.price.text
            description = product.description
            _category = Nullable(wrappedValue: product.category.map(CategoryName.init))
            image = "/v1/shop/images/\(product.id)/0"
            self.layout = layout
            cart = Cart(quantity)
            href = "/v1/shop/products/\(product.id)"
        }

        private enum CodingKeys: CodingKey {
            case id, title, price, currency, priceText, description, category, image, layout, cart, href
        }
    }

    let query: QueryFields
    let items: [Row]
    let empty: EmptyState?
    let actions: [Action]?

    /// - Parameter retry: Where the same search is repeated; nil unless nothing was found.
    init(_ query: SearchQuery, items: [Row], retry: String?) {
        self.query = QueryFields(query)
        self.items = items
        empty = retry == nil ? nil : .noProducts
        actions = retry.map { [Action(id: "retry", title: "Повторить", method: "GET", href: $0)] }
    }
}

/// A query as fields, all of which are always present.
struct QueryFields: Encodable, Sendable {
    @Nullable var q: String?
    @Nullable var categoryId: Int?
    @Nullable var price: Price?
    @Nullable var priceMin: Price?
    @Nullable var priceMax: Price?

    init(_ query: SearchQuery) {
        _q = Nullable(wrappedValue: query.text)
        _categoryId = Nullable(wrappedValue: query.filters.categoryID)
        _price = Nullable(wrappedValue: query.filters.price)
        _priceMin = Nullable(wrappedValue: query.filters.minimum)
        _priceMax = Nullable(wrappedValue: query.filters.maximum)
    }
}

extension EmptyState {
    /// The search found nothing.
    static let noProducts = EmptyState(title: "Извините, таких товаров пока нет :(", text: "", button: "Повторить")
}
