import GRDB
import Screens
import Storage

extension ShopStore {
    /// Searches all products that were ever seen and are not known to be gone, with the same text and filters as the
    /// upstream.
    ///
    /// - Returns: The products of a page by id, and the one after them if there is one.
    func search(_ query: SearchQuery, from place: SearchPlace, limit: Int) throws -> [KnownProduct] {
        try database.read { db in
            let plan = try SearchPlan(query, place.productID == nil ? .offset : .product, db)
            var arguments = plan.arguments
            _ = arguments.append(contentsOf: ["limit": limit + 1])
            _ = arguments.append(contentsOf: place.productID.map { ["product": $0] } ?? ["offset": place.offset])
            let ids = try Int.fetchAll(try db.cachedStatement(sql: plan.sql), arguments: arguments)
            let known = try Self.products(ids, db)
            return ids.compactMap { known[$0] }
        }
    }
}
