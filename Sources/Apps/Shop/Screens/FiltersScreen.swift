import Screens

/// `GET`, `PUT` and `DELETE /v1/shop/filters`: the last search with its filters.
struct FiltersScreen: Encodable, Sendable {
    @Nullable var q: String?
    @Nullable var categoryId: Int?
    @Nullable var price: Price?
    @Nullable var priceMin: Price?
    @Nullable var priceMax: Price?
    /// The search with these filters.
    let href = "/v1/shop/search?saved=1"

    init(_ query: SearchQuery) {
        let fields = QueryFields(query)
        (q, categoryId, price, priceMin, priceMax) = (
            fields.q, fields.categoryId, fields.price, fields.priceMin, fields.priceMax
        )
    }

    private enum CodingKeys: CodingKey { case q, categoryId, price, priceMin, priceMax, href }
}
