package import GRDB

/// A page of what a search has found, the newest first.
package struct SearchHits: Sendable, Equatable {
    /// The requested part of the hits.
    package struct Request: Sendable, Equatable {
        var limit: Int
        var offset: Int
        var before: Int64?
        var isCounted: Bool

        /// Creates a request for at most `limit` hits: without the first `offset`, and below the rank `before`.
        ///
        /// - Parameter isCounted: Whether the number of all hits is needed.
        package init(limit: Int, offset: Int = 0, before: Int64? = nil, isCounted: Bool = true) {
            // Beyond this there are no hits, and sums of both do not overflow.
            (self.limit, self.offset, self.before) = (limit, min(offset, Int(Int32.max)), before)
            self.isCounted = isCounted
        }
    }

    /// The ranks of the page.
    package internal(set) var ranks: [Int64] = []
    /// Whether hits may follow.
    package internal(set) var hasMore = false
    /// Whether the search has looked through as many rows as one request may, before the page was full. Then it goes on
    /// behind ``next`` only: an offset would look through the same rows again.
    package internal(set) var isCut = false
    /// The rank below which the next page begins.
    package internal(set) var next: Int64?
    /// The number of all hits; nil if it is more than ``counted``, or was not requested.
    package internal(set) var total: Int?
    /// What the number of hits is at least, if it is not known.
    package internal(set) var totalAtLeast: Int?
    /// The number of rows of the index that were read.
    package internal(set) var examined = 0

    /// Hits are counted up to this number.
    package static let counted = 1000
    /// The most rows of the index that one reading looks at beyond those that are hits.
    package static let mostMisses = 5000

    /// Creates a page without hits.
    package init() {
        total = 0
    }

    /// Reads a page.
    ///
    /// - Parameters:
    ///   - sql: A statement that returns `rank`, descending, and `is_hit`, for all rows that match `:terms` with ranks
    ///     below `:before`.
    ///   - search: What `:terms` matches.
    ///   - arguments: Its other arguments.
    ///   - request: The requested part.
    /// - Throws: GRDB's errors.
    package init(
        _ sql: String,
        _ search: SearchIndex.Search,
        _ arguments: StatementArguments,
        _ request: Request,
        _ db: Database
    ) throws {
        let last = request.offset + request.limit
        let reader = HitReader(sql: sql, search: search, arguments: arguments, db: db)
        let isCountedAtOnce = request.before == nil && request.isCounted
        let most = isCountedAtOnce ? max(last, Self.counted) + 1 : last + 1
        let found = try reader.read(before: request.before, kept: last + 1, most: most)
        examined = found.examined
        ranks = Array(found.ranks.dropFirst(request.offset).prefix(request.limit))
        isCut = found.isCut && found.ranks.count <= last
        hasMore = found.ranks.count > last || isCut
        next = isCut ? found.last : ranks.last
        guard request.isCounted else {
            totalAtLeast = found.hits
            return
        }
        // A count needs all hits, whatever page is requested.
        var counted = found
        if request.before != nil {
            counted = try reader.read(before: nil, kept: 0, most: Self.counted + 1)
            examined += counted.examined
        }
        let isWhole = !counted.isCut && counted.hits < (request.before == nil ? most : Self.counted + 1)
        total = isWhole ? counted.hits : nil
        totalAtLeast = isWhole ? nil : counted.hits
    }
}
