package import GRDB

/// A page of the results of a search, the newest first.
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
    package internal(set) var hasMore = false
    /// Whether the search has looked through as many rows as one request may, before the page was full. Then only
    /// ``next`` continues it: an offset would look through the same rows again.
    package internal(set) var isCut = false
    /// The rank below which the next page begins.
    package internal(set) var next: Int64?
    /// The number of all hits; nil if it is more than ``counted``, or was not requested.
    package internal(set) var total: Int?
    /// A lower bound of the number of hits, if it is not known.
    package internal(set) var totalAtLeast: Int?
    /// The number of rows of the index that were read.
    package internal(set) var examined = 0
    /// The words that were searched for in place of those of the text; nil if they were those.
    package internal(set) var variant: SearchVariant?

    /// Hits are counted up to this number.
    package static let counted = 1000
    /// Largest number of rows of the index that one reading examines, in addition to the hits.
    package static let mostMisses = 5000
    /// Largest number of bytes of texts that one reading examines.
    static let mostBytes = 4 << 20

    /// Creates a page without hits.
    package init() {
        total = 0
    }

    /// Reads a page.
    ///
    /// - Parameters:
    ///   - sql: A statement that returns `rank`, descending, and `is_hit`, for all rows that match `:terms` with ranks
    ///     below `:before`.
    ///   - search: The search for `:terms`.
    ///   - check: Looks whether a row is a hit in its text, the third column; nil if `is_hit` says it.
    package init(
        _ sql: String,
        _ search: SearchIndex.Search,
        _ arguments: StatementArguments,
        _ request: Request,
        _ db: Database,
        check: ((String) -> Bool)? = nil
    ) throws {
        let last = request.offset + request.limit
        let reader = HitReader(sql: sql, search: search, arguments: arguments, db: db, check: check)
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

extension SearchHits {
    /// Returns these hits; if there are none on any page, those of other words.
    ///
    /// - Parameter search: Reads the same page of the hits of a variant.
    package func orVariants(
        of text: String,
        among stored: StoredWords,
        _ search: (SearchVariant) throws -> SearchHits
    ) throws -> SearchHits {
        guard total == 0 else { return self }
        let other = try SearchVariants.first(for: text, among: stored) { variant in
            let hits = try search(variant)
            return hits.total == 0 ? nil : hits
        }
        guard let (variant, found) = other else { return self }
        var hits = found
        hits.variant = variant
        return hits
    }
}

/// Reads the rows that a search has found: the first ones by rank, and the number of others.
struct HitReader {
    let sql: String
    let search: SearchIndex.Search
    let arguments: StatementArguments
    let db: Database
    var check: ((String) -> Bool)?

    struct Reading {
        /// The ranks of the first hits.
        var ranks: [Int64] = []
        var hits = 0
        /// The rank below which nothing was examined.
        var last: Int64?
        var examined = 0
        /// Bytes of the examined texts.
        var bytes = 0
        /// Whether it ended before its time: too many rows were no hits, or the terms hardly ever meet.
        var isCut = false
    }

    /// Reads hits with ranks below `before`.
    ///
    /// - Parameters:
    ///   - kept: The most whose ranks are returned.
    ///   - most: The most that are counted.
    func read(before: Int64?, kept: Int, most: Int) throws -> Reading {
        var found = Reading()
        var common = try CommonRows(search, before: before ?? .max, db)
        let arguments = arguments + ["terms": search.expression, "before": before ?? .max]
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        while found.hits < most, !found.isCut {
            if found.ranks.count >= kept { common?.mostSteps = CommonRows.mostStepsOfCount }
            if common != nil, try common?.next() == nil {
                guard let common, common.isCut else { break }
                (found.isCut, found.last) = (true, common.bound + 1)
                break
            }
            guard let row = try rows.next() else { break }
            let rank: Int64 = try row.value(0)
            var isHit: Bool = try row.value(1)
            if let check {
                let text: String = try row.value(2)
                found.bytes += text.utf8.count
                isHit = isHit && check(text)
            }
            found.last = rank
            found.examined += 1
            found.hits += isHit ? 1 : 0
            if isHit, found.ranks.count < kept { found.ranks.append(rank) }
            found.isCut =
                found.examined - found.hits >= SearchHits.mostMisses || found.bytes >= SearchHits.mostBytes
        }
        return found
    }
}

/// The rows of an index that have all of several frequent terms, the newest first.
///
/// FTS5 finds them faster, but looks for the next one however far that is: two frequent words that never meet cost as
/// much as all of their rows. Here the rows of each term are read by themselves, one by one and only so many of them.
struct CommonRows {
    /// The most rows of single terms that are read for a page, about five milliseconds.
    static let mostSteps = 50_000
    /// The most entries that are read to count hits beyond the page.
    static let mostStepsOfCount = 10_000
    /// If a term has at most so many rows, FTS5 may be asked: it looks the other terms up for each of them.
    private static let fewRows = 1000

    private struct Term {
        let rows: FastDatabaseValueCursor<Int64>
        var rank: Int64?
    }

    private var terms: [Term]
    private var steps = 0
    private var isAtEnd = false
    /// The most rows of single terms that are read.
    var mostSteps = Self.mostSteps
    /// No common row that was not returned has a greater rank.
    private(set) var bound: Int64
    /// Whether as many rows were read as may be.
    private(set) var isCut = false

    /// Reads rows with ranks below `before`; nil if one of the terms is rare, or there is but one.
    init?(_ search: SearchIndex.Search, before: Int64, _ db: Database) throws {
        guard search.expressions.count > 1 else { return nil }
        let rows = "FROM \(search.table) WHERE \(search.table) MATCH ? AND rowid < ?"
        let counting = try db.cachedStatement(sql: "SELECT count(*) FROM (SELECT 1 \(rows) LIMIT \(Self.fewRows + 1))")
        for expression in search.expressions {
            let count = try Int.fetchOne(counting, arguments: [expression, before]) ?? 0
            guard count > Self.fewRows else { return nil }
        }
        bound = before - 1
        terms = try search.expressions.enumerated().map { number, expression in
            // Each number has a statement of its own, which stays prepared.
            let sql = "SELECT rowid \(rows) ORDER BY rowid DESC /* term \(number) */"
            let statement = try db.cachedStatement(sql: sql)
            return Term(rows: try Int64.fetchCursor(statement, arguments: [expression, before]))
        }
    }

    /// Returns the rank of the next row; nil if there is none, or it is too far away.
    mutating func next() throws -> Int64? {
        var (agreeing, index) = (0, 0)
        while agreeing < terms.count {
            guard let rank = try rank(of: index) else { return nil }
            agreeing = rank == bound ? agreeing + 1 : 1
            bound = rank
            index = (index + 1) % terms.count
        }
        defer { bound -= 1 }
        return bound
    }

    /// Returns the first rank of a term that is not above the bound.
    private mutating func rank(of index: Int) throws -> Int64? {
        while !isAtEnd, !isCut {
            if let rank = terms[index].rank, rank <= bound { return rank }
            terms[index].rank = try terms[index].rows.next()
            steps += 1
            isAtEnd = terms[index].rank == nil
            isCut = !isAtEnd && steps >= mostSteps
        }
        return nil
    }
}
