import Screens

/// The filters of a search as fields, all of which are always present.
struct FilterFields: Encodable, Sendable {
    @Nullable var categoryId: Int?
    @Nullable var price: Price?
    @Nullable var priceText: Text?
    @Nullable var priceMin: Price?
    @Nullable var priceMinText: Text?
    @Nullable var priceMax: Price?
    @Nullable var priceMaxText: Text?

    init(_ filters: SearchFilters) {
        categoryId = filters.categoryID
        price = filters.price
        priceText = filters.price?.text
        priceMin = filters.minimum
        priceMinText = filters.minimum?.text
        priceMax = filters.maximum
        priceMaxText = filters.maximum?.text
    }
}

/// A text and filters as fields of one object, all of which are always present.
struct QueryFields: Encodable, Sendable {
    @Flattened var filters: FilterFields
    @Nullable var q: String?

    init(_ query: SearchQuery) {
        filters = FilterFields(query.filters)
        q = query.text
    }
}
