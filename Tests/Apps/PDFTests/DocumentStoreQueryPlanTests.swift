import Database
import GRDB
import Logging
import ResponseStore
import TestKit
import Testing

@testable import PDF

@Suite struct DocumentStoreQueryPlanTests {
    private func plan(_ sql: String) throws -> String {
        try QueryPlan(sql, in: .temporary(migrations: DocumentStore.migrations)).description
    }

    @Test("PDF-07 the list reads its rows from the index, in order, without sorting")
    func list() throws {
        #expect(try plan(DocumentStore.selectList) == "SEARCH pdf_document USING INDEX pdf_document_by_age (profile=?)")
        // The bound of `created` is an inclusive one: only documents of one millisecond are looked at one by one.
        #expect(
            try plan(DocumentStore.selectListAfterKey)
                == "SEARCH pdf_document USING INDEX pdf_document_by_age (profile=? AND created<?)"
        )
        #expect(!DocumentStore.selectListAfterKey.contains("OFFSET"))
        #expect(try plan(DocumentStore.selectCounts) == "SEARCH pdf_profile USING PRIMARY KEY (profile=?)")
    }

    @Test("PDF-17 a search looks up each document that it finds by an index, and sorts nothing")
    func search() throws {
        let lookup = "USING INDEX pdf_document_by_age (profile=? AND created=?"
        #expect(try plan(DocumentStore.selectRanked).contains(lookup))
        let hits = try plan(DocumentStore.selectHits(words: 2))
        #expect(hits.contains(lookup) && !hits.contains("TEMP B-TREE") && !hits.contains("SCAN document"), "\(hits)")
    }

    @Test("SRV-18 the trash is read from an index, in order")
    func trash() throws {
        let index = "INDEX pdf_document_by_deletion (profile=?"
        for sql in [
            DocumentStore.selectTrash, DocumentStore.selectTrashAfterKey, DocumentStore.selectDueOfProfile,
        ] {
            let plan = try plan(sql)
            #expect(plan.contains(index) && !plan.contains("TEMP B-TREE"), "\(plan)")
        }
        #expect(try plan(DocumentStore.selectDue).contains("INDEX pdf_document_by_trash_age (trashed"))
    }

    @Test("Old drafts and pictures are found by an index")
    func purges() throws {
        for select in [DocumentStore.selectExpired, DocumentStore.selectDrafts] {
            #expect(try plan(select).contains("USING INDEX pdf_document_by_end"))
        }
        #expect(
            try plan(ThumbnailStore.selectOldestThumbnails).contains("USING COVERING INDEX pdf_thumbnail_by_last_use")
        )
        #expect(try plan(ThumbnailStore.sumOfThumbnails).contains("USING COVERING INDEX pdf_thumbnail_by_last_use"))
    }

    @Test("PDF-13 documents are no part of the cache: its eviction finds nothing to remove")
    func noEviction() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one")
            let eviction = CacheEviction(app.database, budget: CacheBudget(bytes: 1))
            #expect(try eviction.total() == 0)
            #expect(try await eviction.run().count == 0)
            #expect(try await app.paper(href) == ["jpeg one 0"])
        }
    }
}
