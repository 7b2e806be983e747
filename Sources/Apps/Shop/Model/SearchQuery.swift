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

    /// Whether a product has the properties that the filters ask for.
    func matches(_ product: Product) -> Bool {
        if let categoryID, product.category?.id != categoryID { return false }
        if let price, product.price != price { return false }
        if let minimum, product.price < minimum { return false }
        if let maximum, product.price > maximum { return false }
        return true
    }
}

/// A text and filters to search for.
struct SearchQuery: Sendable, Hashable {
    /// Maximum length of a text, in characters.
    static let maximumTextLength = 200

    /// The text as typed, without white space around it; nil if it is empty.
    let text: String?
    let filters: SearchFilters
    /// The case-folded text that titles are compared with.
    let folded: String?

    init(text: String? = nil, filters: SearchFilters = SearchFilters()) {
        let trimmed = text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        self.text = trimmed.isEmpty ? nil : trimmed
        self.filters = filters
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
        return numbers.map { $0 ?? "" }.joined(separator: "|") + "|" + (folded ?? "")
    }
}
