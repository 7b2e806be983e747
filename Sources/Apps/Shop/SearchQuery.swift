import Foundation
import Storage

/// The filters of the search.
struct SearchFilters: Sendable, Hashable, Codable {
    var categoryID: Int?
    /// Exactly this price.
    var price: Price?
    /// At least this price.
    var minimum: Price?
    /// At most this price.
    var maximum: Price?

    /// Whether a product passes.
    func validate(_ product: Product) -> Bool {
        if let categoryID, product.category?.id != categoryID { return false }
        if let price, product.price != price { return false }
        if let minimum, product.price < minimum { return false }
        if let maximum, product.price > maximum { return false }
        return true
    }
}

/// What somebody looks for.
struct SearchQuery: Sendable, Hashable {
    /// Longest text, in characters.
    static let longestText = 200

    /// As typed, without spaces around it; nil for none.
    let text: String?
    let filters: SearchFilters
    /// The text as titles are compared with it.
    let folded: String?

    init(text: String? = nil, filters: SearchFilters = SearchFilters()) {
        let trimmed = text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        self.text = trimmed.isEmpty ? nil : trimmed
        self.filters = filters
        folded = trimmed.isEmpty ? nil : trimmed.caseFolded
    }

    /// Whether a product is looked for: its title contains the text, whatever the case, and it passes the filters.
    func matches(_ product: Product) -> Bool {
        guard filters.validate(product) else { return false }
        guard let folded else { return true }
        // By scalars, as the index finds them, not by characters: a letter is found in front of an accent that follows
        // it.
        return Array(product.title.caseFolded.utf8).firstRange(of: Array(folded.utf8)) != nil
    }

    /// One form for equal questions.
    var key: String {
        let numbers = [
            filters.categoryID.map(String.init), filters.price?.text, filters.minimum?.text, filters.maximum?.text,
        ]
        return numbers.map { $0 ?? "" }.joined(separator: "|") + "|" + (folded ?? "")
    }
}
