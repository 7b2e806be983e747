import Foundation
import GRDB
import HTTPTypes
import Logging
import Screens
import Storage
import Synchronization
import TestKit
import Testing

@testable import PDF

/// Every system call of every kind of change fails: a saved document is never lost.
@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct DocumentStoreFaultTests {
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    /// The address that `prepare` has left for the write.
    private final class Subject: Sendable {
        private let text = Mutex("")
        var href: String {
            get { text.withLock { $0 } }
            set { text.withLock { $0 = newValue } }
        }
    }

    private func loop(
        _ kind: String,
        prepare: @escaping @Sendable (PDFHarness) async throws -> String = { _ in "" },
        sourceLocation: SourceLocation = #_sourceLocation,
        _ write: @escaping @Sendable (PDFHarness, String) async throws -> Exchanged
    ) async throws {
        let directory = try DataDirectory.temporary()
        let scope = try FaultScope(directory.path)
        let subject = Subject()
        try await PDFHarness.run(directory: directory) { app in
            let bystander = try await app.saved("bystander")
            let lines = try await app.paper(bystander)
            let loop = FaultLoop(scope, app.database, migrations: PDFHarness.migrations)
            let count = try await loop.run {
                subject.href = try await prepare(app)
            } write: {
                let response = try await write(app, subject.href)
                guard response.status < 400 else { throw Refused(description: response.text) }
            }
            #expect(count >= 6, "\(kind): \(count) faults", sourceLocation: sourceLocation)
            #expect(try await app.paper(bystander) == lines, sourceLocation: sourceLocation)
            try app.expectCounted(kind, sourceLocation: sourceLocation)
            try loop.finish()
            // A disk that removes nothing leaves uploads until the next start, which empties their folder.
            _ = try ScratchFolder("uploads", in: directory)
            print("faults: PDF, \(kind): \(count)")
        }
    }

    @Test("TRUST-02 DUR F2 a saved document outlives each fault of a change, and the next write")
    func rotation() async throws {
        let prepare = { @Sendable (app: PDFHarness) in try await app.saved("one", "two") }
        try await loop("page rotated", prepare: prepare) { app, href in
            let page = try await app.pages(href)[0]
            return try await app.routes.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":90}"#)
        }
    }

    @Test("TRUST-02 each fault of creating, saving, renaming, deleting, restoring and deleting permanently")
    func documents() async throws {
        try await loop("created") { app, _ in try await app.create([PDFHarness.photo("one")]) }
        let (draft, saved) = (
            { @Sendable (app: PDFHarness) in try await app.draft("one") },
            { @Sendable (app: PDFHarness) in try await app.saved("one") }
        )
        let trashed = { @Sendable (app: PDFHarness) in
            let href = try await saved(app)
            _ = try await app.routes.ask(.delete, href)
            return href
        }
        try await loop("saved", prepare: draft) { app, href in
            try await app.routes.ask(.post, "\(href)/save", json: "{}")
        }
        try await loop("renamed", prepare: saved) { app, href in
            try await app.routes.ask(.patch, href, json: #"{"name":"another"}"#)
        }
        try await loop("deleted", prepare: saved) { app, href in
            try await app.routes.ask(.delete, href)
        }
        try await loop("restored", prepare: trashed) { app, href in
            try await app.routes.ask(.post, "/v1/pdf/trash/\(href.suffix(16))/restore")
        }
        try await loop("deleted for good", prepare: trashed) { app, href in
            try await app.routes.ask(.delete, "/v1/pdf/trash/\(href.suffix(16))")
        }
    }
}

@Suite struct DocumentStoreQueryPlanTests {
    private func plan(_ sql: String) throws -> String {
        try QueryPlan(sql, in: .temporary(migrations: DocumentStore.migrations)).description
    }

    @Test("PDF-07 the list reads its rows from the index, in order, without sorting")
    func list() throws {
        let first = try plan(DocumentStore.saved.first)
        #expect(first == "SEARCH pdf_document USING INDEX pdf_document_by_age (profile=?)")
        // The bound of `created` is an inclusive one: only documents of one millisecond are looked at one by one.
        #expect(
            try plan(DocumentStore.saved.next)
                == "SEARCH pdf_document USING INDEX pdf_document_by_age (profile=? AND created<?)"
        )
        #expect(!DocumentStore.saved.next.contains("OFFSET"))
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
            DocumentStore.trash.first, DocumentStore.trash.next, DocumentStore.selectTrashedUpTo,
        ] {
            let plan = try plan(sql)
            #expect(plan.contains(index) && !plan.contains("TEMP B-TREE"), "\(plan)")
        }
        #expect(try plan(DocumentStore.selectDue).contains("INDEX pdf_document_by_trash_age (trashed"))
    }

    @Test("Old drafts and pictures are found by an index")
    func purges() throws {
        for select in [
            DocumentStore.selectExpired, DocumentStore.selectExpiredOfProfile, DocumentStore.selectDrafts,
        ] {
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
