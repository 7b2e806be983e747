import Screens

/// `GET`, `PUT` and `DELETE /v1/shop/filters`: the last search with its filters.
struct FiltersScreen: Encodable, Sendable {
    @Flattened var query: QueryFields
    /// The search with these filters.
    let href: Link = "/v1/shop/search?saved=1"
    let actions: [Action]

    init(_ query: SearchQuery) {
        self.query = QueryFields(query)
        actions = [.applyFilters(query.filters), .resetFilters]
    }
}
