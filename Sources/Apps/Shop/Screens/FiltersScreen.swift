import Screens

/// `GET`, `PUT` and `DELETE /v1/shop/filters`: the last search with its filters.
struct FiltersScreen: Encodable, Sendable {
    let query: QueryFields
    let actions: [Action]

    init(_ query: SearchQuery) {
        self.query = QueryFields(query)
        actions = [.applyFilters(query.filters), .resetFilters]
    }

    private enum CodingKeys: CodingKey { case href, actions }

    func encode(to encoder: any Encoder) throws {
        try query.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        // The search with these filters.
        try fields.encode("/v1/shop/search?saved=1" as Link, forKey: .href)
        try fields.encode(actions, forKey: .actions)
    }
}
