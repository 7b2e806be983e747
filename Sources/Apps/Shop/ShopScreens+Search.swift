import Foundation
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

    /// `retry` is where the same search is made again; nil unless nothing was found.
    init(_ query: SearchQuery, items: [Row], retry: String?) {
        self.query = QueryFields(query)
        self.items = items
        empty = retry.map { _ in EmptyState(title: "Извините, таких товаров пока нет :(", text: "", button: "Повторить")
        }
        actions = retry.map { [Action(id: "retry", title: "Повторить", method: "GET", href: $0)] }
    }
}

/// What somebody looks for, as fields; all of them always there.
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

/// `GET`, `PUT` and `DELETE /v1/shop/filters`: the last search with its filters.
struct FiltersScreen: Encodable, Sendable {
    @Nullable var q: String?
    @Nullable var categoryId: Int?
    @Nullable var price: Price?
    @Nullable var priceMin: Price?
    @Nullable var priceMax: Price?
    /// The search with these.
    let href = "/v1/shop/search?saved=1"

    init(_ query: SearchQuery) {
        let fields = QueryFields(query)
        (q, categoryId, price, priceMin, priceMax) = (
            fields.q, fields.categoryId, fields.price, fields.priceMin, fields.priceMax
        )
    }

    private enum CodingKeys: CodingKey { case q, categoryId, price, priceMin, priceMax, href }
}

/// `GET` and `DELETE /v1/shop/history`.
struct HistoryScreen: Encodable, Sendable {
    struct Filters: Encodable, Sendable {
        @Nullable var categoryId: Int?
        @Nullable var price: Price?
        @Nullable var priceMin: Price?
        @Nullable var priceMax: Price?

        init(_ filters: SearchFilters) {
            _categoryId = Nullable(wrappedValue: filters.categoryID)
            _price = Nullable(wrappedValue: filters.price)
            _priceMin = Nullable(wrappedValue: filters.minimum)
            _priceMax = Nullable(wrappedValue: filters.maximum)
        }
    }

    struct Row: Encodable, Sendable {
        let q: String
        let filters: Filters
        let searchedAt: Date
        /// To be deleted there. The newest search is 0.
        let href: String

        init(_ search: PastSearch, place: Int) {
            q = search.text
            filters = Filters(search.filters)
            searchedAt = search.searchedAt
            href = "/v1/shop/history/\(place)"
        }
    }

    let items: [Row]
    let empty: EmptyState?

    /// `isNarrowed`: some may have been left out.
    init(_ items: [Row], isNarrowed: Bool) {
        self.items = items
        let title = isNarrowed ? "Таких запросов ещё не было" : "История поиска пуста"
        empty = items.isEmpty ? EmptyState(title: title, text: "", button: "К товарам") : nil
    }
}
