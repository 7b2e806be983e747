import Database
import GRDB

/// Reads the rows that a search has found: the first ones by rank, and the number of others.
struct HitReader {
    let sql: String
    let search: SearchIndex.Search
    let arguments: StatementArguments
    let db: Database

    /// What was read.
    struct Reading {
        /// The ranks of the first hits.
        var ranks: [Int64] = []
        /// The number of hits.
        var hits = 0
        /// The rank below which nothing was looked at.
        var last: Int64?
        var examined = 0
        /// Whether it ended before its time: too many rows were no hits, or the terms hardly ever meet.
        var isCut = false
    }

    /// Reads hits with ranks below `before`.
    ///
    /// - Parameters:
    ///   - kept: The most whose ranks are returned.
    ///   - most: The most that are counted.
    /// - Throws: GRDB's errors.
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
            let (rank, isHit): (Int64, Bool) = try (row.value(0), row.value(1))
            found.last = rank
            found.examined += 1
            found.hits += isHit ? 1 : 0
            if isHit, found.ranks.count < kept { found.ranks.append(rank) }
            found.isCut = found.examined - found.hits >= SearchHits.mostMisses
        }
        return found
    }
}
