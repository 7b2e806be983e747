import Foundation
import HTTP

/// The upstream's query for a search. It selects a superset of the products that the search finds, as small as the
/// upstream's filters allow; the others are filtered out afterwards.
struct CatalogueQuery: Sendable, Equatable {
    /// The upper bound of a range without one, since the upstream ignores a range of one bound. No valid price is
    /// higher.
    static let noMaximum = Price.maximum.description

    /// Parameters other than those of paging, in the order of the original app.
    let items: [Item]
    /// Whether the query selects exactly the products that the search finds.
    let isExact: Bool

    struct Item: Sendable, Equatable {
        let name: String
        let value: String
    }

    /// The whole catalogue, in the parts that inexact searches share.
    static let all = CatalogueQuery(items: [], isExact: false)
}

extension CatalogueQuery {
    init(_ query: SearchQuery) {
        var items: [Item] = []
        var isExact = true
        if let text = query.text {
            let (pattern, isLiteral) = Self.pattern(containing: text)
            if let pattern { items.append(Item(name: "title", value: pattern)) }
            isExact = isLiteral
        }
        let filters = query.filters
        let prices = Self.items(forPricesOf: filters)
        items += prices ?? []
        if let category = filters.categoryID { items.append(Item(name: "categoryId", value: String(category))) }
        self.init(items: items, isExact: isExact && prices != nil)
    }

    /// Returns the parameters that select the prices of filters; nil if the upstream cannot select them.
    private static func items(forPricesOf filters: SearchFilters) -> [Item]? {
        if let price = filters.price {
            // The upstream treats 0 as missing.
            return price.amount > 0 ? [Item(name: "price", value: price.amount.description)] : nil
        }
        if let minimum = filters.minimum, minimum.amount > 0 {
            // An upper bound of 0 below a positive lower one was refused before.
            return [
                Item(name: "price_min", value: minimum.amount.description),
                Item(name: "price_max", value: filters.maximum?.amount.description ?? noMaximum),
            ]
        }
        // A positive lower bound would exclude products that cost nothing, and with a lower bound of 0 the upstream
        // ignores the range.
        return filters.maximum == nil ? [] : nil
    }

    /// Returns a pattern of SQL's LIKE that matches every title with this text, ignoring case.
    ///
    /// The upstream folds ASCII letters only, so other characters become `%`; `%` and `_` match themselves and more.
    /// - Returns: The pattern, nil if nothing is left of it, and whether it matches just the titles with the text.
    static func pattern(containing text: String) -> (pattern: String?, isLiteral: Bool) {
        var pattern = ""
        var isLiteral = true
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                pattern.unicodeScalars.append(scalar)
                if scalar == "%" || scalar == "_" { isLiteral = false }
            } else {
                if !pattern.hasSuffix("%") { pattern.append("%") }
                isLiteral = false
            }
        }
        return (pattern.allSatisfy { $0 == "%" } ? nil : pattern, isLiteral)
    }

    /// Path and query of a part of the list, below the base URL. The upstream ignores one paging parameter without the
    /// other.
    func path(offset: Int, limit: Int) -> String {
        let paging = [Item(name: "offset", value: String(offset)), Item(name: "limit", value: String(limit))]
        return CatalogueAPI.productsPath + "?"
            + (paging + items).map { "\($0.name)=\(PercentEncoding.encode($0.value, allowed: .unreserved))" }
            .joined(separator: "&")
    }
}
