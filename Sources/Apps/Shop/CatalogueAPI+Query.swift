import Foundation
import HTTPSemantics

/// What is asked of the upstream for a search: never less than what is looked for, as much less than everything as the
/// upstream can tell. The rest is sorted out here.
struct CatalogueQuery: Sendable, Equatable {
    /// Stands for an upper bound that nobody gave, since the upstream drops a range of one bound: nothing that counts
    /// as a price is higher.
    static let noMaximum = Price.most.description

    /// Parameters in the order of the original app, without those of paging.
    let items: [Item]
    /// Whether the upstream's own filters select just what is looked for.
    let isExact: Bool

    struct Item: Sendable, Equatable {
        let name: String
        let value: String
    }

    init(_ query: SearchQuery) {
        var items: [Item] = []
        var isExact = true
        if let text = query.text {
            let (pattern, isLiteral) = Self.pattern(containing: text)
            if let pattern { items.append(Item(name: "title", value: pattern)) }
            isExact = isLiteral
        }
        let filters = query.filters
        if let price = filters.price {
            // The upstream takes 0 for "not given".
            if price.amount > 0 {
                items.append(Item(name: "price", value: price.amount.description))
            } else {
                isExact = false
            }
        } else if filters.minimum != nil || filters.maximum != nil {
            if let minimum = filters.minimum, minimum.amount > 0 {
                // An upper bound of 0 below a positive lower one does not get here.
                items.append(Item(name: "price_min", value: minimum.amount.description))
                items.append(Item(name: "price_max", value: filters.maximum?.amount.description ?? Self.noMaximum))
            } else if filters.maximum != nil {
                // No positive lower bound takes in what costs nothing, and a lower bound of 0 drops the range.
                isExact = false
            }
        }
        if let category = filters.categoryID { items.append(Item(name: "categoryId", value: String(category))) }
        self.items = items
        self.isExact = isExact
    }

    /// A pattern of SQL's LIKE that takes in every title with this text, whatever the case. Only ASCII letters are
    /// folded upstream, so any text stands in place of others; `%` and `_` take in themselves and more. Nil where
    /// nothing is left to look for.
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

    /// Path and query of a part of the list, below the base URL. Paging counts only with both parameters.
    func path(offset: Int, limit: Int) -> String {
        let paging = [Item(name: "offset", value: String(offset)), Item(name: "limit", value: String(limit))]
        return CatalogueAPI.productsPath + "?"
            + (paging + items).map { "\($0.name)=\(PercentEncoding.encode($0.value, allowed: .unreserved))" }
            .joined(separator: "&")
    }
}
