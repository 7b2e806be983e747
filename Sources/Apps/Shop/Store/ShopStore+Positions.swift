import Foundation
import GRDB
import Storage

extension ShopStore {
    /// For how long a position is kept, in seconds; the upstream's list is another one by then.
    static let positionLifetime: TimeInterval = 7 * 86_400

    /// Age at which a position that is still used is recorded again, in seconds.
    private static let positionRenewal: TimeInterval = 86_400

    /// The position in the upstream's list at which the page at an offset begins.
    struct Position: Sendable {
        var offset: Int
        var position: Int
    }

    /// The offset in the upstream's list at which a page begins.
    struct Start: Sendable, Equatable {
        var position: Int
        /// Rows after the position that belong to earlier pages.
        var skipping = 0
        /// Whether this search was made before with pages of this size.
        var isKnown = false
    }

    /// Returns where in the upstream's list to begin with a page: where the page before it ended, or else at the
    /// nearest earlier page whose position is known.
    func start(of query: SearchQuery, offset wanted: Int, limit: Int, isExact: Bool) throws -> Start {
        // Only a search that the upstream does not make alone is another one if it was made before.
        if isExact, wanted == 0 { return Start(position: 0) }
        let row = try database.read { db in
            try Row.fetchOne(
                try db.cachedStatement(sql: Self.selectPosition),
                arguments: [query.key, limit, wanted]
            )
        }
        guard let row else { return isExact ? Start(position: wanted) : Start(position: 0, skipping: wanted) }
        let offset = try row.value("page_offset") { $0 >= 0 ? $0 : nil as Int? }
        let position = try row.value("position") { $0 >= 0 ? $0 : nil as Int? }
        // The first page always begins at the beginning, even if nothing was found there last time.
        if wanted == 0 { return Start(position: 0, isKnown: true) }
        return offset == wanted || !isExact
            ? Start(position: position, skipping: wanted - offset, isKnown: true)
            : Start(position: wanted, isKnown: true)
    }

    static let selectPosition = """
        SELECT page_offset, position FROM shop_position
        WHERE query = ? AND page_limit = ? AND page_offset <= ? ORDER BY page_offset DESC LIMIT 1
        """

    /// Records the positions at which pages begin, unless they are recorded already or equal to the offsets.
    func record(_ places: [Position], of query: SearchQuery, limit: Int, isExact: Bool, at now: Date) async throws {
        let new = try unrecorded(places, of: query, limit: limit, isExact: isExact, at: now)
        guard !new.isEmpty else { return }
        try await database.writeIfRoom { db in
            try db.cachedStatement(sql: "DELETE FROM shop_position WHERE noted_at < ?")
                .execute(arguments: [now.addingTimeInterval(-Self.positionLifetime).millisecondsSince1970])
            for place in new {
                try db.cachedStatement(sql: Self.insertPosition)
                    .execute(arguments: [query.key, limit, place.offset, place.position, now.millisecondsSince1970])
            }
        }
    }

    /// Returns those of some positions that are to be recorded.
    func unrecorded(_ places: [Position], of query: SearchQuery, limit: Int, isExact: Bool, at now: Date) throws
        -> [Position]
    {
        guard !places.isEmpty else { return [] }
        let recorded: [Int: (position: Int, at: Date)] = try database.read { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(sql: Self.selectRecorded),
                arguments: [query.key, limit, places.map(\.offset).jsonArray]
            )
            return try Dictionary(rows.map { try ($0.value(0), ($0.value(1), $0.date(2))) }) { first, _ in first }
        }
        return places.filter { place in
            guard let known = recorded[place.offset] else { return !isExact || place.offset != place.position }
            let isOld = known.at < now.addingTimeInterval(-Self.positionRenewal)
            return isOld || place.position != known.position
        }
    }

    private static let insertPosition = """
        INSERT OR REPLACE INTO shop_position (query, page_limit, page_offset, position, noted_at) VALUES (?, ?, ?, ?, ?)
        """

    static let selectRecorded = """
        SELECT page_offset, position, noted_at FROM shop_position
        WHERE query = ? AND page_limit = ? AND page_offset IN (SELECT value FROM json_each(?))
        """
}

extension ShopStore.Start {
    /// Reads a cursor; nil if it does not say where the page before ended.
    init?(_ place: SearchStart) {
        guard let reached = place.reached else { return nil }
        self.init(position: reached.position, skipping: place.offset - reached.offset, isKnown: true)
    }
}
