public import GRDB

/// A page of what a search has found, the newest first.
public struct SearchHits: Sendable, Equatable {
    /// The part of the hits that is wanted.
    public struct Request: Sendable, Equatable {
        var limit: Int
        var offset: Int
        var before: Int64?

        /// Creates a request for at most `limit` hits: without the first `offset`, and below the rank `before`.
        public init(limit: Int, offset: Int = 0, before: Int64? = nil) {
            // Beyond this there are no hits, and sums of both do not overflow.
            (self.limit, self.offset, self.before) = (limit, min(offset, Int(Int32.max)), before)
        }
    }

    /// The ranks of the page.
    public internal(set) var ranks: [Int64] = []
    /// Whether hits may follow.
    public internal(set) var hasMore = false
    /// Whether the search has looked through as many rows as one request may, before the page was full. Then it goes on
    /// behind ``next`` only: an offset would look through the same rows again.
    public internal(set) var isCut = false
    /// The rank below which the next page begins.
    public internal(set) var next: Int64?
    /// The number of all hits; nil if it is more than ``counted``.
    public internal(set) var total: Int?
    /// What the number of hits is at least, if it is not known.
    public internal(set) var totalAtLeast: Int?
    /// The number of rows of the index that were read.
    public internal(set) var examined = 0

    /// Hits are counted up to this number.
    public static let counted = 1000
    /// The most rows of the index that one reading looks at beyond those that are hits.
    public static let mostMisses = 5000

    /// Creates a page without hits.
    public init() {
        total = 0
    }

    /// Reads a page.
    ///
    /// - Parameters:
    ///   - sql: A statement that returns `rank`, descending, and `is_hit`, for all ranks below its argument `:before`.
    ///   - arguments: Its other arguments.
    ///   - request: The part that is wanted.
    /// - Throws: GRDB's errors.
    public init(_ sql: String, _ arguments: StatementArguments, _ request: Request, _ db: Database) throws {
        let statement = try db.cachedStatement(sql: sql)
        let last = request.offset + request.limit
        let most = request.before == nil ? max(last, Self.counted) + 1 : last + 1
        let found = try Self.read(statement, arguments, before: request.before, most: most)
        examined = found.examined
        ranks = Array(found.ranks.dropFirst(request.offset).prefix(request.limit))
        isCut = found.isCut && found.ranks.count <= last
        hasMore = found.ranks.count > last || isCut
        next = isCut ? found.last : ranks.last
        // A count needs all hits, whatever page of them is wanted.
        var counted = found
        if request.before != nil {
            counted = try Self.read(statement, arguments, before: nil, most: Self.counted + 1)
            examined += counted.examined
        }
        let isWhole = !counted.isCut && counted.ranks.count < (request.before == nil ? most : Self.counted + 1)
        total = isWhole ? counted.ranks.count : nil
        totalAtLeast = isWhole ? nil : counted.ranks.count
    }

    private struct Reading {
        var ranks: [Int64] = []
        /// The last rank that was looked at.
        var last: Int64?
        var examined = 0
        /// Whether too many rows were no hits.
        var isCut = false
    }

    private static func read(_ statement: Statement, _ arguments: StatementArguments, before: Int64?, most: Int) throws
        -> Reading
    {
        var found = Reading()
        let rows = try Row.fetchCursor(statement, arguments: arguments + ["before": before ?? .max])
        while found.ranks.count < most, let row = try rows.next() {
            let rank: Int64 = row["rank"]
            found.last = rank
            found.examined += 1
            if row["is_hit"] as Bool { found.ranks.append(rank) }
            if found.examined - found.ranks.count >= mostMisses {
                found.isCut = true
                break
            }
        }
        return found
    }
}
