import Screens

/// The filters of a search as fields, all of which are always present.
struct FilterFields: Encodable, Sendable {
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

/// A text and filters as fields of one object, all of which are always present.
struct QueryFields: Encodable, Sendable {
    @Nullable var q: String?
    let filters: FilterFields

    init(_ query: SearchQuery) {
        _q = Nullable(wrappedValue: query.text)
        filters = FilterFields(query.filters)
    }

    private enum CodingKeys: CodingKey { case q }

    func encode(to encoder: any Encoder) throws {
        try filters.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(_q, forKey: .q)
    }
}
