import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import PDF

@Suite struct DocumentSavingTests {
    @Test("PDF-05 PDF-07 a draft that is saved is listed; a second save makes no copy")
    func save() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one")
            let saved = try await app.ask(.post, "\(href)/save", json: #"{"name":" Passport.pdf "}"#)
            saved.expectPDF("pdf.reader")
            #expect(
                saved["data.status"] == "saved" && saved["data.name"] == "Passport"
                    && saved["data.href"] == .string(href)
            )
            #expect(saved["data.draft_until"] == .null)
            let again = try await app.ask(.post, "\(href)/save")
            #expect(again.status == 200 && again["data.name"] == "Passport")
            #expect(try await app.ask(.post, "\(href)/save", json: #"{"name":"Visa"}"#)["data.name"] == "Visa")
            #expect(try await app.listed().count == 1)
            #expect(try app.blobFiles == 2, "one of them for an undo")
        }
    }

    @Test("PDF-05 drafts are listed apart, newest first, until they are saved, discarded or expired, by profile")
    func drafts() async throws {
        try await PDFHarness.run { app in
            let empty = try await app.get("/v1/pdf/drafts")
            empty.expectPDF("pdf.drafts")
            #expect(empty["meta.state"] == "empty" && empty["data.items"] == [])
            let old = try await app.draft("one")
            app.clock.advance(by: .seconds(3600))
            let (saved, new) = (try await app.draft("two"), try await app.draft("three", "four"))
            _ = try await app.draft("five", profile: "other")
            #expect(try await app.ask(.post, "\(saved)/save").status == 200)
            let drafts = try await app.get("/v1/pdf/drafts")
            #expect(drafts["data.items.0.href"] == .string(new) && drafts["data.items.1.href"] == .string(old))
            #expect(drafts["data.items.2"] == nil && drafts["data.items.0.page_count"] == 2)
            #expect(drafts["data.items.1.draft_until"] == "2026-01-06T10:00:00Z")
            #expect(drafts["data.items.0.actions.0.id"] == "save" && drafts["data.items.0.actions.1.id"] == "delete")
            #expect(try await app.ask(.delete, new).status == 200)
            app.clock.advance(by: .seconds(86_400 - 3600))
            #expect(try await app.get("/v1/pdf/drafts")["data.items"] == [])
        }
    }

    @Test("PDF-07 the list is empty at first, and one document has nothing to merge with")
    func first() async throws {
        try await PDFHarness.run { app in
            let empty = try await app.get("/v1/pdf/documents")
            empty.expectPDF("pdf.list")
            #expect(empty["meta.state"] == "empty" && empty["data.items"] == [] && empty["meta.page.total"] == 0)
            #expect(empty.names(in: "data.empty") == ["title", "text", "button", "action"])
            _ = try await app.saved("one", name: "First")
            #expect(
                try await app.get("/v1/pdf/documents")["data.items.0.actions.3.enabled"] == false,
                "nothing to merge with"
            )
        }
    }

    @Test("PDF-07 the list: newest first, whole rows, the actions share, delete and merge; page by page")
    func list() async throws {
        try await PDFHarness.run { app in
            let first = try await app.saved("one", name: "First")
            let second = try await app.saved("two", "three", name: "Second")
            app.clock.advance(by: .seconds(90))
            let third = try await app.saved("four", name: "Third")
            let list = try await app.get("/v1/pdf/documents")
            #expect(list.strings("href", in: "data.items") == [third, second, first])
            #expect(list["meta.state"] == "content" && list["data.empty"] == nil && list["meta.page.total"] == 3)
            #expect(list["data.revision"] == list["meta.revision"])
            #expect(
                list["data.items.1.name"] == "Second" && list["data.items.1.extension"] == "pdf"
                    && list["data.items.1.page_count"] == 2
            )
            #expect(
                list["data.items.0.created_at"] == "2026-01-05T10:01:30Z"
                    && list["data.items.0.created_text"] == "5 January 2026, 10:01"
            )
            #expect(list["data.items.1.size_text"] == "48 bytes")
            #expect(list["data.items.1.thumbnail_url"] == .string("\(second)/thumbnail"))
            #expect(list.strings("id", in: "data.items.0.actions") == ["share", "rename", "delete", "merge"])
            #expect(list["data.items.0.actions.3.enabled"] == true)
            let page = try await app.get("/v1/pdf/documents?limit=2&offset=1")
            #expect(page.strings("href", in: "data.items") == [second, first])
            let next = try await app.get("/v1/pdf/documents?limit=2").string("links.next")
            #expect(next.hasPrefix("/v1/pdf/documents?cursor=") && next.hasSuffix("&limit=2"))
            #expect(try await app.get("/v1/pdf/documents?offset=9")["meta.state"] == "content")
            for query in ["?limit=0", "?limit=101", "?offset=-1", "?limit=x"] {
                try await app.get("/v1/pdf/documents\(query)").expectProblem("invalid-parameter", 400)
            }
            #expect(try await app.listed([.larderProfile: "other"]) == [])
        }
    }

    @Test("PDF-07 rename, also of a draft; equal names are allowed")
    func rename() async throws {
        try await PDFHarness.run { app in
            let (one, two) = (try await app.saved("one", name: "Same"), try await app.draft("two"))
            let renamed = try await app.ask(.patch, two, json: #"{"name":"Same"}"#)
            renamed.expectPDF("pdf.reader")
            #expect(renamed["data.name"] == "Same" && renamed["data.status"] == "draft")
            let before = try await app.get("/v1/pdf/documents")
            #expect(try await app.ask(.patch, one, json: #"{"name":"Отпуск 🏝 2025"}"#)["data.name"] == "Отпуск 🏝 2025")
            let after = try await app.get("/v1/pdf/documents")
            #expect(after["data.items.0.name"] == "Отпуск 🏝 2025")
            #expect(
                after.headerFields[.eTag] != before.headerFields[.eTag]
                    && after["data.revision"] != before["data.revision"]
            )
            for body in [#"{}"#, #"{"name":null}"#, #"{"name":7}"#] {
                try await app.ask(.patch, one, json: body).expectProblem("validation-failed", 422)
            }
        }
    }

    @Test("PDF-07 what no file may be called is refused, with the reason")
    func names() throws {
        let refused = [
            "", "  ", ".pdf", "a/b", "/", "a\u{0}b", "a\nb", "a\u{7F}", "a\u{85}b", "a\u{2028}b", ".", "..", "..pdf",
            "evil\u{202E}fdp.exe",
            String(repeating: "я", count: 126),
            String(repeating: "a", count: 252),
        ]
        for name in refused { #expect(throws: Problem.self, "\(name)") { try DocumentName.accepted(name) } }
        let accepted = [
            "a": "a", " a ": "a", "a.pdf": "a", "a.PDF": "a", "a.pdf.pdf": "a.pdf", "a\\b": "a\\b", "…": "…",
            "👨‍👩‍👧": "👨‍👩‍👧", "שלום": "שלום", "-rf": "-rf",
            "con": "con",
            String(repeating: "a", count: 251): String(repeating: "a", count: 251),
        ]
        for (name, kept) in accepted { #expect(try DocumentName.accepted(name) == kept) }
        let joined = DocumentName.joined(String(repeating: "é", count: 125), "short")
        #expect(joined.hasSuffix("é + short") && joined.utf8.count <= DocumentName.longest)
        #expect(
            DocumentName.joined(String(repeating: "a", count: 251), String(repeating: "b", count: 251)).utf8.count
                <= DocumentName.longest
        )
        #expect(DocumentName.joined("a", "b") == "a + b")
    }

    @Test("PDF-05 the file: type, name in both forms, ranges, its version as entity tag, 304")
    func file() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", name: "Счёт \\\"1\\\"")
            let whole = try await app.get("\(href)/file")
            #expect(whole.status == 200 && whole.text == "\(StubDocumentEngine.header)%title Счёт \"1\"\njpeg one 0")
            #expect(whole.headerFields[.contentType] == "application/pdf")
            #expect(
                whole.headerFields[.contentDisposition]
                    == "attachment; filename=\"____ _1_.pdf\"; filename*=UTF-8''%D0%A1%D1%87%D1%91%D1%82%20%221%22.pdf"
            )
            #expect(
                whole.headerFields[.acceptRanges] == "bytes"
                    && whole.headerFields[.vary] == "Authorization, Cookie, Larder-Profile"
            )
            let tag = try #require(whole.headerFields[.eTag])
            let part = try await app.get("\(href)/file", [.range: "bytes=5-9"])
            #expect(
                part.status == 206 && part.text == "paper"
                    && part.headerFields[.contentRange] == "bytes 5-9/\(whole.body.count)"
            )
            let same = try await app.get("\(href)/file", [.ifNoneMatch: tag])
            #expect(same.status == 304 && same.body.isEmpty)
            try await app.get("\(href)/file", [.range: "bytes=99-"]).expectProblem("bad-range", 416)
            let page = try await app.pages(href)[0]
            _ = try await app.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":90}"#)
            #expect(try await app.get("\(href)/file", [.ifNoneMatch: tag]).status == 200)
            _ = try await app.ask(.patch, href, json: #"{"name":"Plain"}"#)
            #expect(
                try await app.get("\(href)/file").headerFields[.contentDisposition]?.contains(
                    "filename=\"Plain.pdf\""
                ) == true
            )
        }
    }

    @Test("PDF-07 a document deleted permanently is removed with its file and its pictures, and its list says so")
    func deletion() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one")
            _ = try await app.get("\(href)/thumbnail")
            let response = try await app.ask(.delete, "\(href)?permanently=true")
            response.expectPDF("pdf.list")
            #expect(response["data.id"] == .string(String(href.suffix(16))))
            #expect(try await app.listed() == [])
            #expect(try app.blobFiles == 0)
            #expect(try app.database.integer("SELECT count(*) FROM pdf_thumbnail") == 0)
            #expect(try app.database.integer("SELECT count(*) FROM pdf_page") == 0)
            try await app.ask(.delete, href).expectProblem("not-found", 404)
            #expect(
                app.events.published.filter { $0.kind == "screen-changed" }.map(\.json).last
                    == #"{"app":"pdf","screen":"pdf.list","revision":2}"#
            )
        }
    }

    @Test("PDF-13 documents, drafts, rotations and names persist across a restart")
    func restart() async throws {
        let directory = try DataDirectory.temporary()
        let box = TokenBox()
        try await PDFHarness.run(directory: directory) { app in
            box.token = try await app.saved("one", "two", name: "Kept")
            let page = try await app.pages(box.token)[0]
            _ = try await app.ask(.patch, "\(box.token)/pages/\(page)", json: #"{"rotate_by":270}"#)
            _ = try await app.draft("draft")
        }
        try await PDFHarness.run(directory: directory) { app in
            #expect(try await app.paper(box.token) == ["jpeg one 270", "jpeg two 0"])
            let read = try await app.get(box.token)
            #expect(read["data.name"] == "Kept" && read["data.pages.0.rotation"] == 270)
            #expect(try await app.listed().count == 1)
            #expect(try app.blobFiles == 3, "one of them for an undo")
        }
    }
}

@Suite struct DocumentMergingTests {
    private func merge(_ app: PDFHarness, _ first: String, _ second: String, _ more: String = "") async throws
        -> Exchanged
    {
        try await app.ask(
            .post,
            "/v1/pdf/merge",
            json: #"{"first":"\#(first.suffix(16))","second":"\#(second.suffix(16))"\#(more)}"#
        )
    }

    @Test("PDF-08 a third document with all pages of both in order; the originals are unchanged, the list has one more")
    func merge() async throws {
        try await PDFHarness.run { app in
            let (first, second) = (
                try await app.saved("one", "two", name: "A"), try await app.saved("three", name: "B")
            )
            let response = try await merge(app, first, second)
            response.expectPDF("pdf.reader", status: 201)
            #expect(
                response["data.name"] == "A + B" && response["data.status"] == "saved"
                    && response["data.page_count"] == 3
            )
            let merged = try response.string("data.href")
            #expect(response.headerFields[.location] == merged)
            #expect(try await app.paper(merged) == ["jpeg one 0", "jpeg two 0", "jpeg three 0"])
            #expect(try await app.paper(first) == ["jpeg one 0", "jpeg two 0"])
            #expect(try await app.paper(second) == ["jpeg three 0"])
            #expect(try await app.listed().count == 3)
            #expect(try await merge(app, second, first, #","name":"Other way""#)["data.name"] == "Other way")
            for href in [first, second] { _ = try await app.ask(.delete, href) }
            #expect(try await app.paper(merged).count == 3, "what was merged is not affected")
        }
    }

    @Test("PDF-08 itself, an unknown one, a draft, and nothing are refused, and nothing is made")
    func refusals() async throws {
        try await PDFHarness.run { app in
            let (first, second) = (try await app.saved("one"), try await app.saved("two"))
            let draft = try await app.draft("three")
            let itself = try await merge(app, first, first)
            itself.expectProblem("validation-failed", 422)
            #expect(itself["errors.0.pointer"] == "/second")
            try await merge(app, first, "0123456789abcdef").expectProblem("not-found", 404)
            try await merge(app, "../../secrets", first).expectProblem("not-found", 404)
            try await merge(app, first, draft).expectProblem("not-saved", 409)
            try await merge(app, draft, first).expectProblem("not-saved", 409)
            try await merge(app, first, second, #","name":"a/b""#).expectProblem("validation-failed", 422)
            for (body, pointers) in [(#"{}"#, 2), (#"{"first":"x"}"#, 1), (#"{"second":null,"first":"x"}"#, 1)] {
                let response = try await app.ask(.post, "/v1/pdf/merge", json: body)
                response.expectProblem("validation-failed", 422)
                #expect(response.all("pointer", in: "errors").count == pointers)
            }
            try await app.ask(.post, "/v1/pdf/merge", json: #"{"first":1,"second":2}"#).expectProblem(
                "validation-failed",
                422
            )
            #expect(try await app.listed().count == 2)
            #expect(!app.paper.calls.contains("compose"))
        }
    }

    @Test("PDF-23 any number of documents is one in their order, by one request; one alone, or one twice, is refused")
    func many() async throws {
        try await PDFHarness.run { app in
            var ids: [String] = []
            for name in ["A", "B", "C", "D"] { ids.append(String(try await app.saved(name, name: name).suffix(16))) }
            func merge(_ ids: [String], _ more: String = "") async throws -> Exchanged {
                let list = ids.map { "\"\($0)\"" }.joined(separator: ",")
                return try await app.ask(.post, "/v1/pdf/merge", json: #"{"documents":[\#(list)]\#(more)}"#)
            }
            let merged = try await merge([ids[2], ids[0], ids[3], ids[1]])
            merged.expectPDF("pdf.reader", status: 201)
            #expect(merged["data.name"] == "C + A + …" && merged["data.page_count"] == 4)
            let pages = try await app.paper(merged.string("data.href"))
            #expect(pages == ["jpeg C 0", "jpeg A 0", "jpeg D 0", "jpeg B 0"])
            #expect(try await merge([ids[0], ids[1]])["data.name"] == "A + B")
            #expect(try await merge(ids, #","name":"All""#)["data.name"] == "All")
            for (wrong, more) in [
                ([ids[0]], ""), ([], ""), ([ids[0], ids[0]], ""), ([ids[0], ids[1]], #","first":"\#(ids[2])""#),
                ((0...100).map { "\($0)" }, ""),
            ] {
                let refused = try await merge(wrong, more)
                refused.expectProblem("validation-failed", 422)
                #expect(refused["errors.0.pointer"] == "/documents")
            }
            try await merge([ids[0], "0123456789abcdef"]).expectProblem("not-found", 404)
            #expect(try await app.listed().count == 7)
        }
    }

    @Test("PDF-08 a document with more pages than there may be is 413")
    func tooManyPages() async throws {
        try await PDFHarness.run(limits: .pages(2)) { app in
            let (first, second) = (try await app.saved("one", "two"), try await app.saved("three"))
            try await merge(app, first, second).expectProblem("too-many-pages", 413)
            #expect(try await app.listed().count == 2)
        }
    }
}
