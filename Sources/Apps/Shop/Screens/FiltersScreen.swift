import Screens

/// `GET`, `PUT` and `DELETE /v1/shop/filters`: the last search with its filters.
struct FiltersScreen: Encodable, Sendable {
    /// The lowest and the highest price of the products that are known, of the category if one is chosen.
    struct PriceBounds: Encodable, Sendable {
        let min: Price
        let minText: Text
        let max: Price
        let maxText: Text

        init(_ prices: ClosedRange<Price>) {
            (min, max) = (prices.lowerBound, prices.upperBound)
            (minText, maxText) = (min.text, max.text)
        }
    }

    @Flattened var query: QueryFields
    /// The search with these filters.
    let href: Link = "/v1/shop/search?saved=1"
    @Nullable var priceBounds: PriceBounds?
    let actions: [Action]

    init(_ query: SearchQuery, _ categories: [Product.ListedCategory], _ prices: ClosedRange<Price>?) {
        self.query = QueryFields(query)
        priceBounds = prices.map(PriceBounds.init)
        actions = [.applyFilters(query.filters, categories), .resetFilters]
    }
}
