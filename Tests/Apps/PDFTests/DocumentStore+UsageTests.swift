import Foundation
import GRDB
import HTTPTypes
import Screens
import ServiceLifecycle
import Storage
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
            #expect(try await app.routes.get(draft).status == 200)
            let turned = try await app.routes.ask(
                .patch,
                "\(draft)/pages/\(try await app.pages(draft)[0])",
                json: #"{"rotate_by":90}"#
            )
            #expect(turned["data.draft_until"] == "2026-01-07T09:59:59Z")
            #expect(try await app.documents.purgeDrafts(at: app.clock.now) == 0)
            app.clock.advance(by: .seconds(Self.day - 1))
            #expect(try await app.routes.get(draft).status == 200)
            app.clock.advance(by: .seconds(1))
            try await app.routes.get(draft).expectProblem("not-found", 404)
            try await app.routes.get("\(draft)/file").expectProblem("not-found", 404)
            try await app.routes.ask(.post, "\(draft)/save").expectProblem("not-found", 404)
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
            async let change = app.routes.ask(.delete, "\(href)/pages/\(page)")
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
