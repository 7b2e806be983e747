import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage

/// Queries of each request, and those that change many rows, must find their rows by an index.
@Suite struct QueryPlanTests {
    static let hotQueries = [
        ResponseStore.selectByKey, ResponseStore.upsert, ResponseStore.upsertBody, ResponseStore.deleteVariantsBeyond,
        ResponseStore.update,
        ResponseStore.updateLastUse, ResponseStore.invalidation, ResponseStore.invalidationByID,
        ResponseStore.deleteByID, ResponseStore.deleteByURL, ResponseStore.deleteByCredential,
        ResponseStore.deleteByBlob,
        PageStore.selectPage, PageStore.selectRows, PageStore.selectEnding, PageStore.upsertPage,
        PageStore.updateLastUse,
        PageStore.decrementTotals, PageStore.deleteRow,
        PageStore.deletePrefix, PageStore.updateRow, PageStore.updatePrefix,
        PageStore.deleteAccount,
        ResponseStore.deleteByPrefix, ResponseStore.moveByPrefix, ResponseStore.invalidationByCredential,
        PageStore.decrementTotalsOfScreen,
        PageStore.deleteRowOfScreen,
        SealedSecrets.select, SealedSecrets.upsert,
        CacheEviction.deletePage, CachePurge.selectBatch,
        ResponseStore.selectParts, ResponseStore.deleteContainedParts, ResponseStore.deletePartsByKey,
        ResponseStore.deleteByPart, ResponseStore.selectPartBytes,
        "DELETE FROM blob WHERE id = ?",
    ]

    @Test("A hot query scans no table", arguments: hotQueries)
    func noScan(sql: String) throws {
        let plan = try plan(sql)
        #expect(!plan.contains { $0.contains("SCAN") }, "\(plan)")
    }

    @Test(
        "The least recently used are found in an index that holds their sizes too",
        arguments: [
            (
                CacheEviction.selectResponses,
                "SEARCH stored_response USING COVERING INDEX stored_response_by_last_use (pinned=?)"
            ),
            (CacheEviction.selectPages, "SCAN page USING COVERING INDEX page_by_last_use"),
        ]
    )
    func leastRecentlyUsed(sql: String, expected: String) throws {
        #expect(try plan(sql) == [expected])
    }

    @Test("The total of the cache costs as much as there are upstreams")
    func total() throws {
        #expect(
            try !plan(CacheEviction.selectTotal).contains {
                $0.contains("SCAN stored_response ") || $0.hasSuffix("SCAN page")
            }
        )
    }

    @Test("The plan of a query without an index does tell of a scan")
    func scanIsSeen() throws {
        #expect(try plan("SELECT id FROM stored_response WHERE reason = ?").contains { $0.contains("SCAN") })
    }

    private func plan(_ sql: String) throws -> [String] {
        try QueryPlan(sql, in: .temporary()).steps
    }
}
