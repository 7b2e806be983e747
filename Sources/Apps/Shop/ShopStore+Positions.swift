import Foundation
import GRDB
import Screens
import Storage

extension ShopStore {
    /// For how long a place is remembered; the upstream's list is another one by then.
    static let positionLifetime: TimeInterval = 7 * 86_400

    /// Where in the upstream's list a page begins: as noted when the page before it was made, else from the nearest one before whose place is known.
    func start(of query: SearchQuery, _ page: PageRequest, isExact: Bool) throws -> (position: Int, skipping: Int) {
        let row = try database.read { db in
            try Row.fetchOne(try db.cachedStatement(sql: Self.selectPosition), arguments: [query.key, page.limit, page.offset])
        }
        guard let row else { return isExact ? (page.offset, 0) : (0, page.offset) }
        let (offset, position): (Int, Int) = (row["page_offset"], row["position"])
        return offset == page.offset || !isExact ? (position, page.offset - offset) : (page.offset, 0)
    }

    static let selectPosition = """
        SELECT page_offset, position FROM shop_position WHERE query = ? AND page_limit = ? AND page_offset <= ? ORDER BY page_offset DESC LIMIT 1
        """

    /// Notes where the next page begins, unless that is where anybody would look or what is noted already.
    func note(_ position: Int, of query: SearchQuery, _ page: PageRequest, isExact: Bool, at now: Date) async throws {
        let next = PageRequest(limit: page.limit, offset: page.offset + page.limit)
        let expected = try start(of: query, next, isExact: isExact)
        guard expected != (position, 0) else { return }
        try await database.write { db in
            try db.cachedStatement(sql: "DELETE FROM shop_position WHERE noted_at < ?")
                .execute(arguments: [now.addingTimeInterval(-Self.positionLifetime).millisecondsSince1970])
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO shop_position (query, page_limit, page_offset, position, noted_at) VALUES (?, ?, ?, ?, ?)")
                .execute(arguments: [query.key, next.limit, next.offset, position, now.millisecondsSince1970])
        }
    }
}
