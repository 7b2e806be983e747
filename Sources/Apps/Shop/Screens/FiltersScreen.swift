import Screens

/// `GET`, `PUT` and `DELETE /v1/shop/filters`: the last search with its filters, and their possible values.
struct FiltersScreen: Encodable, Sendable {
    /// The lowest and the highest price of the catalogue, or of the category if one is chosen.
    struct PriceBounds: Encodable, Sendable {
        let min: Price
        let minText: Text
        let max: Price
        let maxText: Text

        init?(_ prices: [Price]) {
            guard let min = prices.min(), let max = prices.max() else { return nil }
            (self.min, self.max) = (min, max)
            (minText, maxText) = (min.text, max.text)
        }
    }

    @Flattened var query: QueryFields
    /// The search with these filters.
    let href: Link = "/v1/shop/search?saved=1"
    @Nullable var priceBounds: PriceBounds?
    let actions: [Action]

    init(_ query: SearchQuery, _ categories: [Product.Category], _ products: [Product]) {
        self.query = QueryFields(query)
        let ofCategory = SearchFilters(categoryID: query.filters.categoryID)
        priceBounds = PriceBounds(products.filter(ofCategory.matches).map(\.price))
        actions = [.applyFilters(query.filters, categories), .resetFilters]
    }
}
