import Foundation
import GRDB
import HTTPCaching
import HTTPTypes
import Testing

@testable import Storage

/// Figures, not judgements: `LARDER_BENCH=1 swift test --filter ReadLatencyBench` prints how long reads take with few and many stored rows.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["LARDER_BENCH"] != nil), .serialized) struct ReadLatencyBench {
    @Test("Latency of reading one stored response and one page of 50 rows", arguments: [1_000, 1_000_000])
    func latency(rows: Int) throws {
        let database = try LarderDatabase.temporary()
        try Self.fill(database, rows: rows)
        let store = ResponseStore(database)
        var generator = SystemRandomNumberGenerator()
        let responses = try Self.measure {
            let number = Int.random(in: 1...rows, using: &generator)
            let found = try store.responses(upstream: "bench", method: .get, url: "https://bench.test/item/\(number)", credential: nil)
            #expect(found.count == 1)
        }
        let pages = try Self.measure {
            let key = PageKey(account: "bench", screen: "list", offset: Int.random(in: 0..<(rows / 50), using: &generator) * 50, limit: 50)
            let page = try database.read { try PageStore().page(key, in: $0) }
            #expect(page?.rowKeys.count == 50)
        }
        print("\(rows) rows: stored response \(responses), page of 50 keys \(pages)")
    }

    private static func fill(_ database: LarderDatabase, rows: Int) throws {
        try database.write { db in
            let numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))"
            try db.execute(
                sql: """
                    INSERT INTO stored_response
                        (upstream, url, method, credential, varying, status, reason, header, request_time, response_time, size, last_used)
                    \(numbers) SELECT 'bench', 'https://bench.test/item/' || i, 'GET', x'', x'', 200, 'OK', x'', i, i, 1000, i FROM n;
                    INSERT INTO stored_body (response_id, bytes) SELECT id, zeroblob(200) FROM stored_response;
                    INSERT INTO page (account, screen, query, page_offset, page_limit, has_more, fetched_at, size, last_used)
                    \(numbers) SELECT 'bench', 'list', '', i - 1, 50, 1, i, 500, i FROM n WHERE i % 50 = 1;
                    INSERT INTO page_row (page_id, position, account, row_key)
                    WITH RECURSIVE k (j) AS (SELECT 0 UNION ALL SELECT j + 1 FROM k WHERE j < 49)
                    SELECT page.id, j, 'bench', 'row-' || (page_offset + j) FROM page, k;
                    """
            )
        }
    }

    /// Median and 99th percentile of 5000 calls, after 500 that warm up.
    private static func measure(_ body: () throws -> Void) throws -> String {
        for _ in 0..<500 { try body() }
        let clock = ContinuousClock()
        let times = try (0..<5000).map { _ in try clock.measure(body) }.sorted()
        func microseconds(_ duration: Duration) -> Int { Int(duration / .microseconds(1)) }
        return "p50 \(microseconds(times[2500])) µs, p99 \(microseconds(times[4950])) µs"
    }
}
