import Foundation

/// The filters of the product list, with the oddities of the server's source (product.service.ts of fake-api-backend).
struct CatalogueFilter: Sendable {
    private let title: String
    private let price: Double
    private let minimum: Double
    private let maximum: Double
    private let category: Double?
    private let categorySlug: String
    /// Rows of the selection; nil for all rows.
    private let window: (offset: Int, limit: Int)?

    /// - Throws: 400 for the few parameters that the server checks.
    init(_ query: [RequestTarget.QueryItem]) throws(CatalogueError) {
        title = Self.text("title", query)
        price = Self.number("price", query)
        minimum = Self.number("price_min", query)
        maximum = Self.number("price_max", query)
        categorySlug = Self.text("categorySlug", query)
        category = query.contains { $0.name == "categoryId" } ? Self.number("categoryId", query) : nil
        window = Self.window(query)
        var messages: [String] = []
        if minimum < 0 { messages.append("price_min must not be less than 0") }
        if category?.isNaN == true {
            messages.append("categoryId must be a number conforming to the specified constraints")
        }
        guard messages.isEmpty else { throw .invalid(messages) }
    }

    /// Returns nil unless both `limit` and `offset` are given: the server ignores one without the other. It also
    /// ignores a limit that is not positive and a negative offset.
    static func window(_ query: [RequestTarget.QueryItem]) -> (offset: Int, limit: Int)? {
        let (limit, offset) = (number("limit", query), number("offset", query))
        guard query.contains(where: { $0.name == "offset" }), limit > 0, offset >= 0, let rows = Int(exactly: limit),
            let start = Int(exactly: offset)
        else {
            return nil
        }
        return (start, rows)
    }

    /// The rows that the server would send.
    func select(from rows: CatalogueData.Rows) -> [CatalogueProduct] {
        let categoryID =
            categorySlug.isEmpty
            ? category.map { Int(exactly: $0) ?? -1 } : rows.categories.first { $0.slug == categorySlug }?.id ?? -1
        let pattern = title.isEmpty ? nil : LikePattern("%\(title)%")
        var skipped = 0
        var selected: [CatalogueProduct] = []
        for product in rows.products where matches(product, categoryID, pattern) {
            if let window {
                if selected.count == window.limit { break }
                skipped += 1
                if skipped <= window.offset { continue }
            }
            selected.append(product)
        }
        return selected
    }

    private func matches(_ product: CatalogueProduct, _ categoryID: Int?, _ pattern: LikePattern?) -> Bool {
        if let categoryID, product.categoryID != categoryID { return false }
        if !isTruthy(minimum) && !isTruthy(maximum) {
            if isTruthy(price), Double(product.price) != price { return false }
        } else if isTruthy(minimum) && isTruthy(maximum) && !isTruthy(price) {
            guard let own = Double(product.price), own >= minimum, own <= maximum else { return false }
        }
        return pattern?.matches(product.title) ?? true
    }

    /// Whether JavaScript treats the number as true.
    private func isTruthy(_ number: Double) -> Bool { number != 0 && !number.isNaN }

    private static func text(_ name: String, _ query: [RequestTarget.QueryItem]) -> String {
        query.last { $0.name == name }?.value ?? ""
    }

    /// `Number(text)` of JavaScript for the texts that matter here: an empty text is 0, a text that is no number is
    /// NaN.
    private static func number(_ name: String, _ query: [RequestTarget.QueryItem]) -> Double {
        let text = text(name, query).trimmingCharacters(in: .whitespaces)
        return text.isEmpty ? 0 : Double(text) ?? .nan
    }
}

/// SQLite's `LIKE`: `%` matches any text, `_` any one character, and upper and lower case are the same for ASCII
/// letters only.
struct LikePattern: Sendable {
    private let pattern: [Unicode.Scalar]

    init(_ pattern: String) { self.pattern = pattern.unicodeScalars.map(Self.folded) }

    func matches(_ text: String) -> Bool {
        let text = text.unicodeScalars.map(Self.folded)
        var (position, index) = (0, 0)
        // Where to continue after a mismatch: after the last `%`, one character later each time.
        var retry: (pattern: Int, text: Int)?
        while index < text.count {
            if position < pattern.count, pattern[position] == "%" {
                retry = (position + 1, index)
                position += 1
            } else if position < pattern.count, pattern[position] == "_" || pattern[position] == text[index] {
                position += 1
                index += 1
            } else if let last = retry {
                retry = (last.pattern, last.text + 1)
                (position, index) = (last.pattern, last.text + 1)
            } else {
                return false
            }
        }
        return pattern[position...].allSatisfy { $0 == "%" }
    }

    private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        (0x41...0x5A).contains(scalar.value) ? Unicode.Scalar(UInt8(scalar.value) + 0x20) : scalar
    }
}
