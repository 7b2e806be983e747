import GRDB
import HTTPTypes
import Screens
import ServiceLifecycle
import Storage
import Synchronization
import TestKit
import Testing

@testable import PDF

@Suite("What a profile stores, and its quota") struct DocumentStoreUsageTests {
    /// The bytes that are counted of all profiles equal those of their documents.
    private func expectCounted(_ app: PDFHarness, _ when: String) throws {
        let sums = try app.database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT bytes, draft_bytes, trash_bytes,
                        (SELECT coalesce(sum(length + 4096), 0) FROM pdf_document AS one
                            WHERE one.profile = pdf_profile.profile),
                        (SELECT coalesce(sum(length + 4096), 0) FROM pdf_document AS one
                            WHERE one.profile = pdf_profile.profile AND draft_until IS NOT NULL),
                        (SELECT coalesce(sum(length + 4096), 0) FROM pdf_document AS one
                            WHERE one.profile = pdf_profile.profile AND trashed IS NOT NULL)
                    FROM pdf_profile
                    """
            ).map { row in (0..<6).map { row[$0] as Int } }
        }
        #expect(!sums.isEmpty && sums.allSatisfy { Array($0[..<3]) == Array($0[3...]) }, "\(when): \(sums)")
    }

    private func photos(_ href: String, _ photo: String, _ app: PDFHarness) async throws -> Exchanged {
        let form = MultipartForm([PDFHarness.photo(photo)])
        return try await app.ask(.post, "\(href)/pages", [.contentType: form.contentType], body: form.body)
    }

    @Test("SRV-18 The bytes of a profile follow each change of its documents, drafts and trash, and those of before")
    func counted() async throws {
        try await PDFHarness.run { app in
            let saved = try await app.saved("one", "two", name: "Kept")
            let draft = try await app.draft("three")
            _ = try await app.draft("four", profile: "other")
            try expectCounted(app, "made")
            #expect(try await photos(draft, "five", app).status == 201)
            #expect(try await app.ask(.delete, "\(saved)/pages/\(try await app.pages(saved)[0])").status == 200)
            try expectCounted(app, "changed")
            #expect(try await app.ask(.delete, saved).status == 200)
            try expectCounted(app, "in the trash")
            #expect(try await app.ask(.post, "/v1/pdf/trash/\(saved.suffix(16))/restore").status == 200)
            #expect(try await app.ask(.post, "\(draft)/save", json: "{}").status == 200)
            try expectCounted(app, "restored and saved")
            try await app.database.write { db in
                try db.execute(
                    sql: """
                        DROP TRIGGER pdf_document_stored; DROP TRIGGER pdf_document_resized;
                        DROP TRIGGER pdf_document_unstored;
                        ALTER TABLE pdf_profile DROP COLUMN bytes; ALTER TABLE pdf_profile DROP COLUMN draft_bytes;
                        ALTER TABLE pdf_profile DROP COLUMN trash_bytes;
                        """
                )
                try #require(DocumentStore.migrations.first { $0.name == "pdf/006 usage" }).migrate(db)
            }
            try expectCounted(app, "after the migration")
            #expect(try await app.ask(.delete, "\(saved)?permanently=true").status == 200)
            app.clock.advance(by: .seconds(2 * 86_400))
            #expect(try await app.documents.purgeDrafts(at: app.clock.now) == 1)
            try expectCounted(app, "deleted and expired")
        }
    }

    @Test("SRV-18 A profile stores no more than its quota: what adds is 507 and leaves nothing, all else works")
    func quota() async throws {
        let quota = 2 * DocumentStore.bytesBeside + 4000
        try await PDFHarness.run(settings: .standard.with(PDFApp.quota, quota)) { app in
            let (first, second) = (try await app.saved("one"), try await app.saved("two"))
            let files = try app.blobFiles
            let creation = try await app.create([PDFHarness.photo("three")])
            creation.expectProblem("quota-exceeded", 507)
            #expect(creation["href"] == "/v1/usage")
            #expect(try creation.string("detail").hasPrefix("This profile may store 12 KB here and has 8."))
            let page = try await app.pages(first)[0]
            let merge = #"{"first":"\#(first.suffix(16))","second":"\#(second.suffix(16))"}"#
            try await app.ask(.post, "/v1/pdf/merge", json: merge).expectProblem("quota-exceeded", 507)
            try await app.ask(.post, "\(first)/extract", json: #"{"pages":["\#(page)"]}"#)
                .expectProblem("quota-exceeded", 507)
            try await photos(first, String(repeating: "x", count: 4000), app).expectProblem("quota-exceeded", 507)
            #expect(try await app.listed().count == 2)
            #expect(try app.blobFiles == files, "no file of what was refused is left")
            #expect(try await app.ask(.patch, first, json: #"{"name":"Another name"}"#).status == 200)
            #expect(try await app.ask(.patch, "\(first)/pages/\(page)", json: #"{"rotate_by":90}"#).status == 200)
            #expect(try await app.create([PDFHarness.photo("a")], [.larderProfile: "other"]).status == 201)

            #expect(try await app.ask(.delete, second).status == 200)
            let full = try await app.create([PDFHarness.photo("three")], [.acceptLanguage: "ru"])
            full.expectProblem("quota-exceeded", 507)
            #expect(try full.string("dialog.message").contains("в корзине, её можно очистить"))
            #expect(try await app.ask(.delete, "/v1/pdf/trash").status == 200)
            #expect(try await app.create([PDFHarness.photo("three")]).status == 201)
            try expectCounted(app, "at the end")
        }
    }

    @Test("SRV-18 A profile whose quota is used up is refused before its upload is read; the link names the profile")
    func early() async throws {
        try await PDFHarness.run(settings: .standard.with(PDFApp.quota, 0)) { app in
            let refused = try await app.create([PDFHarness.photo("one")], [.larderProfile: "anna"])
            refused.expectProblem("quota-exceeded", 507)
            #expect(refused["href"] == "/v1/usage?profile=anna")
            #expect(app.paper.calls.isEmpty, "nothing was made of the upload")
        }
    }
}

extension PDFHarness {
    fileprivate func create(_ uploads: [Upload], _ fields: HTTPFields) async throws -> Exchanged {
        try await create(uploads, query: "", fields)
    }
}

@Suite("Expired drafts") struct DocumentStoreDraftsTests {
    private static let day = 86400

    @Test("PDF-05 a draft is deleted 24 hours after its last change, to the second, with its file; saved ones stay")
    func purge() async throws {
        try await PDFHarness.run { app in
            let (draft, saved) = (try await app.draft("one", "two"), try await app.saved("three"))
            app.clock.advance(by: .seconds(Self.day - 1))
            #expect(try await app.get(draft).status == 200)
            let turned = try await app.ask(
                .patch,
                "\(draft)/pages/\(try await app.pages(draft)[0])",
                json: #"{"rotate_by":90}"#
            )
            #expect(turned["data.draft_until"] == "2026-01-07T09:59:59Z")
            #expect(try await app.documents.purgeDrafts(at: app.clock.now) == 0)
            app.clock.advance(by: .seconds(Self.day - 1))
            #expect(try await app.get(draft).status == 200)
            app.clock.advance(by: .seconds(1))
            try await app.get(draft).expectProblem("not-found", 404)
            try await app.get("\(draft)/file").expectProblem("not-found", 404)
            try await app.ask(.post, "\(draft)/save").expectProblem("not-found", 404)
            #expect(try app.blobFiles == 3, "not seen any more, but still there, with the file for an undo")
            #expect(try await app.documents.purgeDrafts(at: app.clock.now) == 1)
            #expect(try app.blobFiles == 1)
            #expect(try await app.paper(saved) == ["jpeg three 0"])
        }
    }

    @Test("A draft that expires while it is changed is deleted, and so is the file that was made of it")
    func endsMeanwhile() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            let page = try await app.pages(href)[0]
            app.paper.hold()
            async let change = app.ask(.delete, "\(href)/pages/\(page)")
            await app.paper.isHolding(1)
            app.clock.advance(by: .seconds(Self.day))
            #expect(try await app.documents.purgeDrafts(at: app.clock.now) == 1)
            app.paper.release()
            try await change.expectProblem("not-found", 404)
            #expect(try app.blobFiles == 0)
        }
    }

    @Test("Many drafts go in several steps")
    func batches() async throws {
        try await PDFHarness.run { app in
            for _ in 0...DocumentStore.purgeBatch { _ = try await app.draft("one") }
            app.clock.advance(by: .seconds(Self.day))
            #expect(try await app.documents.purgeDrafts(at: app.clock.now) == DocumentStore.purgeBatch + 1)
            #expect(try app.blobFiles == 0)
        }
    }

    @Test("The service looks at the start and every ten minutes, and ends with the server")
    func service() async throws {
        try await PDFHarness.run(settings: .standard.with(PDFApp.draftLifetime, .seconds(700))) { app in
            _ = try await app.draft("one")
            let service = try #require(app.app.services.first)
            let running = Task { try await service.run() }
            for expected in [1, 1, 0] {
                await app.clock.sleepers(of: ExpiryService.interval)
                #expect(try app.blobFiles == expected)
                app.clock.advance(by: ExpiryService.interval)
            }
            await app.clock.sleepers(of: ExpiryService.interval)
            running.cancel()
            try await running.value
        }
    }
}

/// Every system call of every kind of change fails: a saved document is never lost.
@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct DocumentStoreFaultTests {
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
                guard response.status < 400 else { throw Exchanged.Refused(response) }
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
            return try await app.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":90}"#)
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
            _ = try await app.ask(.delete, href)
            return href
        }
        try await loop("saved", prepare: draft) { app, href in
            try await app.ask(.post, "\(href)/save", json: "{}")
        }
        try await loop("renamed", prepare: saved) { app, href in
            try await app.ask(.patch, href, json: #"{"name":"another"}"#)
        }
        try await loop("deleted", prepare: saved) { app, href in
            try await app.ask(.delete, href)
        }
        try await loop("restored", prepare: trashed) { app, href in
            try await app.ask(.post, "/v1/pdf/trash/\(href.suffix(16))/restore")
        }
        try await loop("deleted for good", prepare: trashed) { app, href in
            try await app.ask(.delete, "/v1/pdf/trash/\(href.suffix(16))")
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
