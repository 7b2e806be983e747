import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import PDF

@Suite("The trash of documents") struct DocumentTrashTests {
    private static let trash = "/v1/pdf/trash"

    private func restore(_ href: String, _ app: PDFHarness, _ fields: HTTPFields = [:]) async throws -> Exchanged {
        try await app.ask(.post, "\(Self.trash)/\(href.suffix(16))/restore", fields)
    }

    @Test("SRV-18 A deleted document is in no list, opens nowhere, and takes no change")
    func deleted() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two", name: "Passport")
            let other = try await app.saved("three", name: "Other")
            let deleted = try await app.ask(.delete, href)
            deleted.expectPDF("pdf.list")
            #expect(deleted["data.actions.0.href"] == .string("\(Self.trash)/\(href.suffix(16))/restore"))
            for path in ["", "/file", "/thumbnail"] {
                try await app.get(href + path).expectProblem("not-found", 404)
            }
            let refused: [(HTTPRequest.Method, String, String?)] = [
                (.patch, href, #"{"name":"n"}"#), (.post, "\(href)/save", "{}"), (.delete, href, nil),
                (.post, "/v1/pdf/merge", #"{"first":"\#(href.suffix(16))","second":"\#(other.suffix(16))"}"#),
            ]
            for (method, target, body) in refused {
                try await app.ask(method, target, json: body).expectProblem("not-found", 404)
            }
            #expect(try await app.listed() == [String(other.suffix(16))])
            #expect(try await app.get("/v1/pdf/documents?q=passport")["meta.page.total"] == 0)
            try app.expectCounted("in the trash")
        }
    }

    @Test("SRV-18 The trash says what is in it, when it was deleted and until when; to its profile only")
    func shown() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two", name: "Passport")
            app.clock.advance(by: .seconds(1))
            _ = try await app.saved("three", name: "Other")
            _ = try await app.ask(.delete, href)
            let shown = try await app.get(Self.trash)
            shown.expectPDF("pdf.trash")
            #expect(shown["data.count"] == 1 && shown["data.items.0.name"] == "Passport")
            #expect(shown["data.items.0.page_count_text"] == "2 pages")
            #expect(shown["data.items.0.deleted_text"] == "Deleted: 5 January 2026, 10:00")
            #expect(shown["data.items.0.expires_at"] == "2026-02-04T10:00:01Z")
            #expect(shown.all("id", in: "data.items.0.actions") == ["restore", "purge"])
            #expect(try await app.get(Self.trash, [.larderProfile: "other"])["data.count"] == 0)
            try await restore(href, app, [.larderProfile: "other"]).expectProblem("not-found", 404)
        }
    }

    @Test("SRV-18 A restored document has its file, pages, name and place")
    func restored() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two", name: "Passport")
            app.clock.advance(by: .seconds(1))
            _ = try await app.saved("three", name: "Other")
            _ = try await app.ask(.patch, "\(href)/pages/\(try await app.pages(href)[0])", json: #"{"rotate_by":90}"#)
            let reads = [href, "\(href)/file", "/v1/pdf/documents?q=passport"]
            let before = try await reads.asyncMap { try await app.get($0) }
            let list = try await app.get("/v1/pdf/documents")
            _ = try await app.ask(.delete, href)
            let restored = try await restore(href, app)
            restored.expectPDF("pdf.reader")
            #expect(restored.headerFields[.eTag] == before[0].headerFields[.eTag])
            for (read, response) in zip(reads, before) {
                let after = try await app.get(read)
                #expect(after.status == 200 && after["data.items"] == response["data.items"], "\(read)")
                #expect(read.contains("?q=") || after.body == response.body, "\(read)")
            }
            #expect(try await app.get("/v1/pdf/documents")["data.items"] == list["data.items"])
            #expect(try await app.get(Self.trash)["meta.state"] == "empty")
            try app.expectCounted("restored")
        }
    }

    @Test("SRV-18 Restored twice is restored once, as it is by then; documents may have one name")
    func twice() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", name: "Same")
            _ = try await app.ask(.delete, href)
            _ = try await app.saved("two", name: "Same")
            #expect(try await restore(href, app).status == 200)
            let renamed = try await app.ask(.patch, href, json: #"{"name":"Later"}"#)
            #expect(try await restore(href, app).body == renamed.body)
            #expect(try await app.listed().count == 2)
            try app.expectCounted("restored twice")
            for id in ["x", "0123456789abcdef", "..%2F.."] {
                try await app.ask(.post, "\(Self.trash)/\(id)/restore").expectProblem("not-found", 404)
                try await app.ask(.delete, "\(Self.trash)/\(id)").expectProblem("not-found", 404)
            }
        }
    }

    @Test("SRV-18 What is deleted permanently is removed with its file, and so are drafts; nothing restores them")
    func forGood() async throws {
        try await PDFHarness.run { app in
            let (one, two) = (try await app.saved("one"), try await app.saved("two"))
            let draft = try await app.draft("three")
            let permanent = try await app.ask(.delete, "\(one)?permanently=true")
            #expect(permanent["data.actions"] == [])
            #expect(try await app.ask(.delete, draft)["data.actions"] == [])
            #expect(try app.blobFiles == 1)
            _ = try await app.ask(.delete, two)
            #expect(try app.blobFiles == 1, "it can be restored")
            let purged = try await app.ask(.delete, "\(Self.trash)/\(two.suffix(16))")
            purged.expectPDF("pdf.trash")
            #expect(purged["data.removed"] == 1)
            #expect(try app.blobFiles == 0)
            for href in [one, two, draft] { try await restore(href, app).expectProblem("not-found", 404) }
            try app.expectCounted("purged")
        }
    }

    @Test("SRV-18 TRUST-05 Restoring and permanent deletion honour the version of what they change")
    func preconditions() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one")
            let tag = try #require(try await app.get(href).headerFields[.eTag])
            _ = try await app.ask(.delete, href)
            let stale: HTTPFields = [.ifMatch: "\"99\""]
            try await restore(href, app, stale).expectProblem("precondition-failed", 412)
            for target in ["\(Self.trash)/\(href.suffix(16))", Self.trash] {
                try await app.ask(.delete, target, stale).expectProblem("precondition-failed", 412)
            }
            let list = try #require(try await app.get(Self.trash).headerFields[.eTag])
            #expect(try await restore(href, app, [.ifMatch: tag]).status == 200)
            try await app.ask(.delete, Self.trash, [.ifMatch: list]).expectProblem("precondition-failed", 412)
        }
    }

    @Test("SRV-18 A change that is under way when its document is deleted is refused, and leaves no file")
    func meanwhile() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two")
            let page = try await app.pages(href)[0]
            let document = try #require(
                try app.documents.document(String(href.suffix(16)), profile: "local", at: app.clock.now)
            )
            _ = try await app.ask(.delete, href)
            try await app.ask(.delete, "\(href)/pages/\(page)").expectProblem("not-found", 404)
            await #expect(throws: DocumentStore.Gone.self) {
                _ = try await app.documents.replace(
                    document,
                    file: document.blob,
                    pages: document.pages,
                    draftUntil: app.clock.now,
                    effect: .change,
                    app.history()
                )
            }
            #expect(try await restore(href, app)["data.page_count"] == 2)
        }
    }

    @Test("SRV-18 What is due is deleted in the background, no sooner, in steps, for all profiles")
    func due() async throws {
        try await PDFHarness.run(settings: .standard.with(PDFApp.trashLifetime, .seconds(1000))) { app in
            for _ in 0...DocumentStore.purgeBatch { _ = try await app.ask(.delete, try await app.saved("one")) }
            app.clock.advance(by: .seconds(1))
            let late = try await app.saved("late")
            _ = try await app.ask(.delete, late)
            let trash = DocumentTrash(pdf: app.app.pdf)
            app.clock.advance(by: .seconds(998))
            #expect(try await trash.purgeDue(at: app.clock.now) == 0)
            app.clock.advance(by: .seconds(1))
            #expect(try await trash.purgeDue(at: app.clock.now) == DocumentStore.purgeBatch + 1)
            #expect(try await app.get(Self.trash).strings("id", in: "data.items") == [String(late.suffix(16))])
            #expect(app.events.published.last?.json.contains("pdf.trash") == true)
            #expect(try await app.ask(.delete, Self.trash)["data.removed"] == 1)
            #expect(try app.blobFiles == 0)
            try app.expectCounted("due")
        }
        try await PDFHarness.run(settings: .standard.with(PDFApp.trashLifetime, .zero)) { app in
            let deleted = try await app.ask(.delete, app.saved("one"))
            #expect(deleted["data.actions"] == [])
            let files = try app.blobFiles
            #expect(files == 0)
        }
    }

    @Test("SRV-18 The trash is read in pages, the last deleted first")
    func pages() async throws {
        try await PDFHarness.run { app in
            var expected: [String] = []
            for number in 0..<7 {
                let href = try await app.saved("\(number)")
                _ = try await app.ask(.delete, href)
                expected.insert(String(href.suffix(16)), at: 0)
                if number.isMultiple(of: 3) { app.clock.advance(by: .seconds(1)) }
            }
            var (seen, target) = ([String](), String?.some("\(Self.trash)?limit=2"))
            while let path = target {
                let page = try await app.get(path)
                #expect(page["meta.page.total"] == 7)
                seen += page.strings("id", in: "data.items")
                target = page["links.next"] == .null ? nil : try page.string("links.next")
            }
            #expect(seen == expected)
        }
    }

    @Test("SRV-18 The trash of a new profile is empty, and has 0 in total")
    func new() async throws {
        try await PDFHarness.run { app in
            let shown = try await app.get("\(Self.trash)?profile=new")
            shown.expectPDF("pdf.trash")
            #expect(shown["meta.page.total"] == 0 && shown["data.count"] == 0, "\(shown.text)")
        }
    }

    @Test("ONE-09 A repeated permanent deletion has the fields of the first one, Vary too")
    func repeated() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one")
            _ = try await app.ask(.delete, href)
            let target = "\(Self.trash)/\(href.suffix(16))"
            let first = try await app.ask(.delete, target, [.idempotencyKey: "one"])
            let again = try await app.ask(.delete, target, [.idempotencyKey: "one"])
            for response in [first, again] { response.expectPDF("pdf.trash") }
            again.expectRepeats(first)
        }
    }
}
