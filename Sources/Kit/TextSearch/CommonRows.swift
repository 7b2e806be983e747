import GRDB

/// The rows of an index that have all of several frequent terms, the newest first.
///
/// FTS5 finds them faster, but looks for the next one however far that is: two frequent words that never meet cost as
/// much as all of their rows. Here the rows of each term are read by themselves, one by one and only so many of them.
struct CommonRows {
    /// The most rows of single terms that are read for a page, about five milliseconds.
    static let mostSteps = 50_000
    /// The most that are read to count what is not on the page.
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
    ///
    /// - Throws: GRDB's errors.
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
    ///
    /// - Throws: GRDB's errors.
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
