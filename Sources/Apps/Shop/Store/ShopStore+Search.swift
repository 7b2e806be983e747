import GRDB
import Screens
import Storage

extension ShopStore {
    /// Searches all products that were ever seen and are not known to be gone, with the same text and filters as the
    /// upstream.
    ///
    /// - Parameter order: That of the page, if it begins at an offset.
    /// - Returns: The products of a page by id, and the one after them if there is one.
    func search(_ query: SearchQuery, from place: SearchPlace, limit: Int, by order: [String] = ["id"]) throws
        -> [KnownProduct]
    {
        try database.read { db in
            let plan = try SearchPlan(query, place.productID == nil ? .offset : .product, by: order, db)
            var arguments = plan.arguments
            _ = arguments.append(contentsOf: ["limit": limit + 1])
            _ = arguments.append(contentsOf: place.productID.map { ["product": $0] } ?? ["offset": place.offset])
            let ids = try Int.fetchAll(try db.cachedStatement(sql: plan.sql), arguments: arguments)
            let known = try Self.products(ids, db)
            return ids.compactMap { known[$0] }
        }
    }

    /// Searches the same products, and returns a page in another order: by relevance of the first that are found by the
    /// text and by words, a hundred of each.
    func search(_ query: SearchQuery, by order: SearchOrder, from offset: Int, limit: Int) throws -> [KnownProduct] {
        guard order == .relevance, query.text != nil else {
            return try search(query, from: SearchPlace(offset: offset), limit: limit, by: order.columns)
        }
        let byText = try search(query, from: SearchPlace(offset: 0), limit: Self.mostOfVariant)
        let byWords = try variants(of: query)?.found ?? []
        let known = Dictionary((byText + byWords).map { ($0.product.id, $0) }) { first, _ in first }
        let found = order.found(by: query, among: known.values.map(\.product))
        return found.dropFirst(offset).prefix(limit + 1).compactMap { known[$0.id] }
    }

    /// Returns titles that a text which is being typed may become: of stored products with words that begin like its
    /// words, or if there is none, like similar ones.
    func suggestions(_ text: String) throws -> [String] {
        let query = SearchQuery(text: text)
        guard query.text != nil else { return [] }
        let variants = try variants(of: query)
        let found = try variants?.found ?? search(query, from: SearchPlace(offset: 0), limit: 20)
        var seen: Set<String> = []
        let titles = found.map(\.product.title).filter { title in
            // Products are found by words of their descriptions, too.
            variants?.variant.matches(title.searchFolded) != false && seen.insert(title).inserted
        }
        return Array(titles.prefix(8))
    }
}
