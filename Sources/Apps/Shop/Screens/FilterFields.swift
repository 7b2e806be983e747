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
        _categoryId = Nullable(wrappedValue: filters.categoryID)
        _price = Nullable(wrappedValue: filters.price)
        _priceText = Nullable(wrappedValue: filters.price?.text)
        _priceMin = Nullable(wrappedValue: filters.minimum)
        _priceMinText = Nullable(wrappedValue: filters.minimum?.text)
        _priceMax = Nullable(wrappedValue: filters.maximum)
        _priceMaxText = Nullable(wrappedValue: filters.maximum?.text)
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
