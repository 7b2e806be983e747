import Database
import GRDB
import Screens

extension ShopStore {
    /// Searches all products that were ever seen and are not known to be gone, with the same text and filters as the
    /// upstream.
    ///
    /// - Returns: The products of a page by id, and the one after them if there is one.
    func search(_ query: SearchQuery, _ page: PageRequest) throws -> [KnownProduct] {
        try database.read { db in
            let plan = try SearchPlan(query, db)
            var arguments = plan.arguments
            _ = arguments.append(contentsOf: ["limit": page.limit + 1, "offset": page.offset])
            let ids = try Int.fetchAll(try db.cachedStatement(sql: plan.sql), arguments: arguments)
            return try ids.compactMap { try Self.known($0, db) }
        }
    }
}
