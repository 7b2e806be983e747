import Foundation
import GRDB
import Screens
import Storage

extension ShopStore {
    /// For how long a place is remembered; the upstream's list is another one by then.
    static let positionLifetime: TimeInterval = 7 * 86_400

    /// After so long, what is still used is noted again.
    private static let positionRenewal: TimeInterval = 86_400

    /// Where in the upstream's list the page at an offset begins.
    struct Place: Sendable {
        var offset: Int
        var position: Int
    }

    /// Where to look for a page in the upstream's list.
    struct Start: Sendable, Equatable {
        var position: Int
        /// Rows behind it that belong to pages before.
        var skipping = 0
        /// Whether this search was made before, with pages of this size.
        var isKnown = false
    }

    /// Where in the upstream's list a page begins: as noted when the page before it was made, else from the nearest one
    /// before whose place is known.
    func start(of query: SearchQuery, _ page: PageRequest, isExact: Bool) throws -> Start {
        let row = try database.read { db in
            try Row.fetchOne(
                try db.cachedStatement(sql: Self.selectPosition),
                arguments: [query.key, page.limit, page.offset]
            )
        }
        guard let row else { return isExact ? Start(position: page.offset) : Start(position: 0, skipping: page.offset) }
        let (offset, position): (Int, Int) = (row["page_offset"], row["position"])
        // The first page is looked for from the beginning, however long nothing was found there: there may be something
        // by now.
        if page.offset == 0 { return Start(position: 0, isKnown: true) }
        return offset == page.offset || !isExact
            ? Start(position: position, skipping: page.offset - offset, isKnown: true)
            : Start(position: page.offset, isKnown: true)
    }

    static let selectPosition = """
        SELECT page_offset, position FROM shop_position WHERE query = ? AND page_limit = ? AND page_offset <= ? ORDER BY page_offset DESC LIMIT 1
        """

    /// Notes at which positions pages begin, unless that is noted already or where anybody would look.
    func note(_ places: [Place], of query: SearchQuery, limit: Int, isExact: Bool, at now: Date) async throws {
        let news = try database.read { db in
            try places.filter { place in
                guard
                    let noted = try Row.fetchOne(
                        try db.cachedStatement(sql: Self.selectNoted),
                        arguments: [query.key, limit, place.offset]
                    )
                else {
                    return !isExact || place.offset != place.position
                }
                let isOld =
                    Date(millisecondsSince1970: noted["noted_at"]) < now.addingTimeInterval(-Self.positionRenewal)
                return isOld || place.position != noted["position"] as Int
            }
        }
        guard !news.isEmpty else { return }
        try await database.write { db in
            try db.cachedStatement(sql: "DELETE FROM shop_position WHERE noted_at < ?")
                .execute(arguments: [now.addingTimeInterval(-Self.positionLifetime).millisecondsSince1970])
            for place in news {
                try db.cachedStatement(
                    sql:
                        "INSERT OR REPLACE INTO shop_position (query, page_limit, page_offset, position, noted_at) VALUES (?, ?, ?, ?, ?)"
                )
                .execute(arguments: [query.key, limit, place.offset, place.position, now.millisecondsSince1970])
            }
        }
    }

    static let selectNoted =
        "SELECT position, noted_at FROM shop_position WHERE query = ? AND page_limit = ? AND page_offset = ?"
}
