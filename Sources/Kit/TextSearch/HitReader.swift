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
        fileprivate var isAtEnd = false

        fileprivate mutating func take(rows: Int, hits found: Int) {
            examined += rows
            hits += found
            isCut = examined - hits >= SearchHits.mostMisses
        }

        /// Notes that there are no more rows, or none that are near.
        fileprivate mutating func end(_ common: CommonRows?) {
            if let common, common.isCut {
                (isCut, last) = (true, common.bound + 1)
            } else {
                isAtEnd = true
            }
        }
    }

    /// Reads hits with ranks below `before`.
    ///
    /// - Parameters:
    ///   - kept: The most whose ranks are returned.
    ///   - most: The most that are counted.
    /// - Throws: GRDB's errors.
    func read(before: Int64?, kept: Int, most: Int) throws -> Reading {
        var found = Reading()
        found.last = before
        var common = try CommonRows(search, before: before ?? .max, db)
        try keep(min(kept, most), &found, &common)
        common?.mostSteps = CommonRows.mostStepsOfCount
        while found.hits < most, !found.isCut, !found.isAtEnd { try count(most - found.hits, &found, &common) }
        return found
    }

    private func keep(_ limit: Int, _ found: inout Reading, _ common: inout CommonRows?) throws {
        guard limit > 0 else { return }
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: all(before: found.last))
        while found.hits < limit, !found.isCut {
            if common != nil, try common?.next() == nil { return found.end(common) }
            guard let row = try rows.next() else { return found.end(nil) }
            let (rank, isHit): (Int64, Bool) = (row[0], row[1])
            found.last = rank
            if isHit { found.ranks.append(rank) }
            found.take(rows: 1, hits: isHit ? 1 : 0)
        }
    }

    private func count(_ limit: Int, _ found: inout Reading, _ common: inout CommonRows?) throws {
        let near = try common?.pass(atMost: limit) ?? limit
        let sql = "SELECT count(*), sum(is_hit), min(rank) FROM (\(sql) LIMIT :limit)"
        let arguments = all(before: found.last) + ["limit": near]
        let row = near > 0 ? try Row.fetchOne(db.cachedStatement(sql: sql), arguments: arguments) : nil
        let rows: Int = row?[0] ?? 0
        if let row, rows > 0 {
            found.last = row[2]
            found.take(rows: rows, hits: row[1])
        }
        if rows < limit { found.end(common) }
    }

    private func all(before: Int64?) -> StatementArguments {
        arguments + ["terms": search.expression, "before": before ?? .max]
    }
}
