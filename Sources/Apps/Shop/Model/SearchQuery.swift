import Foundation
import Screens
import Storage

struct SearchFilters: Sendable, Hashable, Codable {
    var categoryID: Int?
    /// Exactly this price.
    var price: Price?
    /// At least this price.
    var minimum: Price?
    /// At most this price.
    var maximum: Price?

    /// Whether a product has the properties that the filters ask for.
    func matches(_ product: Product) -> Bool {
        if let categoryID, product.category?.id != categoryID { return false }
        if let price, product.price != price { return false }
        if let minimum, product.price < minimum { return false }
        if let maximum, product.price > maximum { return false }
        return true
    }
}

/// The order of the results, if that is not the catalogue's.
enum SearchOrder: String, Sendable, CaseIterable {
    /// Whole words before beginnings before other parts, titles before descriptions.
    case relevance
    case price
    case priceDescending = "-price"
    case title

    /// The columns of `shop_search` that rows are ordered by.
    var columns: [String] {
        switch self {
        case .relevance: ["id"]
        case .price: ["price", "id"]
        case .priceDescending: ["price DESC", "id DESC"]
        case .title: ["folded", "id"]
        }
    }

    /// Returns the products that a query finds, in this order. By relevance these have all words, in any order, in the
    /// title or the description.
    func found(by query: SearchQuery, among products: [Product]) -> [Product] {
        guard self == .relevance, let text = query.text else {
            return sorted(products.filter(query.matches), of: \.self)
        }
        let relevance = RelevanceQuery(text)
        let ranked = products.filter(query.filters.matches).compactMap { product in
            let texts = RelevanceQuery.Texts(title: product.title, others: [product.description])
            return relevance.rank(of: texts).map { (rank: $0, product: product) }
        }
        return ranked.sorted { ($0.rank, $0.product.id) < ($1.rank, $1.product.id) }.map(\.product)
    }

    /// Sorts rows by their products. The order by relevance is that of the rows.
    func sorted<Row>(_ rows: [Row], of product: (Row) -> Product) -> [Row] {
        let keyed = rows.map { row in
            let product = product(row)
            let title = self == .title ? Array(SearchText.indexed(product.title).utf8) : []
            return (row: row, title: title, price: product.price, id: product.id)
        }
        switch self {
        case .relevance: return rows
        case .price: return keyed.sorted { ($0.price, $0.id) < ($1.price, $1.id) }.map(\.row)
        case .priceDescending: return keyed.sorted { ($1.price, $1.id) < ($0.price, $0.id) }.map(\.row)
        case .title:
            return keyed.sorted { $0.title == $1.title ? $0.id < $1.id : $0.title.lexicographicallyPrecedes($1.title) }
                .map(\.row)
        }
    }
}

/// A text and filters to search for.
struct SearchQuery: Sendable, Hashable {
    /// Maximum length of a text, in characters.
    static let maximumTextLength = 200

    /// The text as typed, without white space around it; nil if it is empty.
    let text: String?
    let filters: SearchFilters
    /// Nil for the order of the catalogue.
    let order: SearchOrder?
    /// The case-folded text that titles are compared with.
    let folded: String?

    init(text: String? = nil, filters: SearchFilters = SearchFilters(), order: SearchOrder? = nil) {
        let trimmed = text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        self.text = trimmed.isEmpty ? nil : trimmed
        self.filters = filters
        self.order = order
        folded = trimmed.isEmpty ? nil : trimmed.caseFolded
    }

    /// Whether the query finds a product: its title contains the text, ignoring case, and the filters match.
    func matches(_ product: Product) -> Bool {
        guard filters.matches(product) else { return false }
        guard let folded else { return true }
        // By scalars, as in the index, not by characters: a letter is found even if a combining accent follows it.
        return Array(product.title.caseFolded.utf8).firstRange(of: Array(folded.utf8)) != nil
    }

    /// A text that is the same for equal queries.
    var key: String {
        let numbers = [
            filters.categoryID.map(String.init), filters.price?.amount.description,
            filters.minimum?.amount.description, filters.maximum?.amount.description,
        ]
        return numbers.map { $0 ?? "" }.joined(separator: "|") + "|" + (folded ?? "") + (order.map { "|\($0)" } ?? "")
    }
}

/// The beginning of a page of a search: an offset, or the place in a cursor.
///
/// The catalogue's list is known by position only, and rows of it are filtered here. So a cursor says at which position
/// of the catalogue's list the page before ended: neither the pages before nor their limit need be known. Among the
/// products that were ever seen, a page begins after a product; among those that were found by other words, at an
/// offset.
struct SearchStart: Sendable, Equatable {
    /// Largest offset that is used; a larger one is reduced to it. No list is that long, no sum of offsets overflows,
    /// and the upstream can read the number.
    static let maximumOffset = Int(Int32.max)

    /// Products on the pages before.
    var offset: Int
    /// The position in the catalogue's list that the page before has reached, and the products before that; nil if the
    /// page before was not made of the catalogue's list.
    var reached: (position: Int, offset: Int)?
    /// The last product of the page before, if that was made of products that were ever seen.
    var productID: Int?
    /// Whether the page before has products that were found by other words than those of the text.
    var isOfVariant = false

    static func == (one: SearchStart, other: SearchStart) -> Bool { one.key == other.key }
}

extension SearchStart {
    /// Returns the paged list of the results of a query, which makes and reads cursors.
    static func list(of query: SearchQuery) -> PagedList {
        PagedList("shop.search", filter: query.key, key: [.integer, .integer, .integer, .integer])
    }

    /// The key of a cursor; -1 is no value.
    var key: [CursorValue] {
        [offset, reached?.position ?? -1, reached?.offset ?? (isOfVariant ? 0 : -1), productID ?? -1]
            .map { .integer(Int64($0)) }
    }

    /// Reads the place of a request; numbers that no cursor has are those of the nearest place.
    init(_ page: PageRequest) {
        let values = (page.key ?? []).compactMap(\.integer).map {
            Int(min(max($0, -1), Int64(Self.maximumOffset)))
        }
        guard values.count == 4 else {
            self.init(offset: min(page.offset, Self.maximumOffset))
            return
        }
        let offset = max(values[0], 0)
        self.init(
            offset: offset,
            reached: values[1] < 0 ? nil : (values[1], min(max(values[2], 0), offset)),
            productID: values[3] < 0 ? nil : values[3],
            isOfVariant: values[1] < 0 && values[2] == 0
        )
    }
}
