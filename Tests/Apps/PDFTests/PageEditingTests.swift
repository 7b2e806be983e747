import Foundation
import HTTPTypes
import Media
import Screens
import TestKit
import Testing

@testable import PDF

@Suite struct PageEditingTests {
    @Test("PDF-06 exactly the requested page is deleted, the others renumber, and the file agrees")
    func deletion() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two", "three")
            let pages = try await app.pages(href)
            let response = try await app.ask(.delete, "\(href)/pages/\(pages[1])")
            response.expectPDF("pdf.reader")
            #expect(response.strings("id", in: "data.pages") == [pages[0], pages[2]])
            #expect(response.all("number", in: "data.pages") == [1, 2])
            #expect(try await app.paper(href) == ["jpeg one 0", "jpeg three 0"])
            try await app.ask(.delete, "\(href)/pages/\(pages[1])").expectProblem("not-found", 404)
            #expect(try app.blobFiles == 2, "the file of before is there for an undo")
        }
    }

    @Test("PDF-06 the only page is refused and stays")
    func lastPage() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one")
            let page = try await app.pages(href)[0]
            try await app.ask(.delete, "\(href)/pages/\(page)").expectProblem("last-page", 409)
            #expect(try await app.paper(href) == ["jpeg one 0"])
        }
    }

    @Test("TRUST-02 PDF-13 a full disk is 507 for every change of a document, which stays as it was")
    func fullDisk() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            let pages = try await app.pages(href)
            let before = try await app.get(href)
            app.paper.fail(.storageFull("no space left"))
            let order = pages.reversed().map { "\"\($0)\"" }.joined(separator: ",")
            let changes: [(HTTPRequest.Method, String, String?)] = [
                (.patch, "/pages/\(pages[0])", #"{"rotate_by":90}"#), (.patch, "", #"{"name":"Another"}"#),
                (.post, "/save", #"{"name":"Another"}"#), (.post, "/pages", #"{"text":"Hello"}"#),
                (.put, "/pages/order", #"{"pages":[\#(order)]}"#), (.delete, "/pages/\(pages[0])", nil),
                (.post, "/extract", #"{"pages":["\#(pages[1])"]}"#),
            ]
            for (method, path, json) in changes {
                let response = try await app.ask(method, href + path, json: json)
                response.expectProblem("storage-full", 507)
            }
            #expect(try await app.get(href).text == before.text)
            #expect(try app.blobFiles == 1)
        }
    }

    @Test("PDF-10 rotations add up mod 360, both ways, are in the file, and survive save, merge and extract")
    func rotation() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            let page = try await app.pages(href)[1]
            for (turn, expected) in [
                ("90", 90), ("90", 180), ("270", 90), ("-180", 270), ("450", 0), ("-90", 270), ("720", 270), ("0", 270),
                ("9e1", 0), ("90", 90),
            ] {
                let response = try await app.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":\#(turn)}"#)
                response.expectPDF("pdf.reader")
                #expect(response.all("rotation", in: "data.pages") == [0, .number(Double(expected))], "\(turn)")
                #expect(try await app.paper(href) == ["jpeg one 0", "jpeg two \(expected)"], "\(turn)")
            }
            _ = try await app.ask(.post, "\(href)/save")
            let other = try await app.saved("three")
            let ids = [href, other].map { $0.split(separator: "/").last ?? "" }
            let merged = try await app.ask(
                .post,
                "/v1/pdf/merge",
                json: #"{"first":"\#(ids[0])","second":"\#(ids[1])"}"#
            )
            #expect(merged.all("rotation", in: "data.pages") == [0, 90, 0])
            #expect(
                try await app.paper(try merged.string("data.href")) == ["jpeg one 0", "jpeg two 90", "jpeg three 0"]
            )
            let extracted = try await app.ask(.post, "\(href)/extract", json: #"{"pages":["\#(page)"]}"#)
            #expect(extracted.all("rotation", in: "data.pages") == [90])
        }
    }

    @Test(
        "PDF-10 a rotation is a multiple of 90",
        arguments: [
            #"{"rotate_by":45}"#, #"{"rotate_by":"90"}"#, #"{}"#, #"{"rotate_by":90.5}"#, #"{"rotate_by":1e300}"#,
            #"{"rotate_by":null}"#,
            #"{"rotate_by":[90]}"#,
        ]
    )
    func wrongRotation(body: String) async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one")
            let response = try await app.ask(.patch, "\(href)/pages/\(try await app.pages(href)[0])", json: body)
            response.expectProblem("validation-failed", 422)
            #expect(response["errors.0.pointer"] == "/rotate_by")
            #expect(app.paper.calls == ["pages"])
        }
    }

    @Test("PDF-11 pages are reordered as they are named; each once, all of them")
    func reorder() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two", "three")
            let pages = try await app.pages(href)
            let wanted = [pages[2], pages[0], pages[1]]
            let response = try await app.ask(.put, "\(href)/pages/order", json: Self.list(wanted))
            response.expectPDF("pdf.reader")
            #expect(response.strings("id", in: "data.pages") == wanted)
            #expect(try await app.paper(href) == ["jpeg three 0", "jpeg one 0", "jpeg two 0"])
            let calls = app.paper.calls.count
            #expect(try await app.ask(.put, "\(href)/pages/order", json: Self.list(wanted)).status == 200)
            #expect(app.paper.calls.count == calls, "what is as it is already takes no work")
            for (list, code) in [
                ([], "required"), ([pages[0]], "incomplete"), (wanted + [pages[0]], "duplicate"),
                ([pages[0], pages[1], "x"], "unknown"),
            ] {
                let refused = try await app.ask(.put, "\(href)/pages/order", json: Self.list(list))
                refused.expectProblem("validation-failed", 422)
                #expect(refused["errors.0.code"] == .string(code))
            }
            for body in [#"{}"#, #"{"pages":"a"}"#, #"{"pages":[1]}"#] {
                try await app.ask(.put, "\(href)/pages/order", json: body).expectProblem("validation-failed", 422)
            }
            #expect(try await app.pages(href) == wanted)
        }
    }

    static func list(_ pages: [String], _ more: String = "") -> String {
        #"{"pages":["\#(pages.joined(separator: #"",""#))"]\#(more)}"#.replacing(#"[""]"#, with: "[]")
    }

    @Test("PDF-11 selected pages form a new saved document in the given order; the source is unchanged")
    func extract() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two", "three")
            let pages = try await app.pages(href)
            let response = try await app.ask(
                .post,
                "\(href)/extract",
                json: Self.list([pages[2], pages[0]], #","name":"Best of""#)
            )
            response.expectPDF("pdf.reader", status: 201)
            let new = try response.string("data.href")
            #expect(response.headerFields[.location] == new)
            #expect(
                response["data.status"] == "saved" && response["data.name"] == "Best of"
                    && response["data.draft_until"] == .null
            )
            #expect(try await app.paper(new) == ["jpeg three 0", "jpeg one 0"])
            #expect(Set(response.strings("id", in: "data.pages")).isDisjoint(with: pages))
            #expect(try await app.pages(href) == pages)
            #expect(try await app.paper(href) == ["jpeg one 0", "jpeg two 0", "jpeg three 0"])
            #expect(try await app.listed() == [try response.string("data.id")])
            #expect(
                try await app.ask(.post, "\(href)/extract", json: Self.list([pages[0]]))["data.name"]
                    == "Document 2026-01-05 10-00 (extract)"
            )
            for list in [[], ["x"], [pages[0], pages[0]]] {
                try await app.ask(.post, "\(href)/extract", json: Self.list(list)).expectProblem(
                    "validation-failed",
                    422
                )
            }
            try await app.ask(.post, "\(href)/extract", json: Self.list([pages[0]], #","name":"a/b""#))
                .expectProblem("validation-failed", 422)
            _ = try await app.ask(.delete, href)
            #expect(try await app.paper(new) == ["jpeg three 0", "jpeg one 0"])
        }
    }

    @Test("A document and a page that are unknown are 404, and so are those of another profile")
    func unknown() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            let page = try await app.pages(href)[0]
            let foreign: HTTPFields = [.larderProfile: "other"]
            for document in [
                "/v1/pdf/documents/0123456789abcdef", "/v1/pdf/documents/x", "/v1/pdf/documents/%F0%9F%8F%9D",
                "/v1/pdf/documents/..%2F..", href,
            ] {
                let fields = document == href ? foreign : [:]
                let requests: [(HTTPRequest.Method, String, String?)] = [
                    (.get, "", nil), (.get, "/file", nil), (.get, "/thumbnail", nil),
                    (.get, "/pages/\(page)/thumbnail", nil), (.patch, "", #"{"name":"n"}"#),
                    (.post, "/save", "{}"), (.post, "/pages", #"{"text":"t"}"#),
                    (.put, "/pages/order", Self.list([page])),
                    (.patch, "/pages/\(page)", #"{"rotate_by":90}"#), (.delete, "/pages/\(page)", nil),
                    (.post, "/extract", Self.list([page])),
                    (.delete, "", nil),
                ]
                for (method, path, body) in requests {
                    try await app.ask(method, document + path, fields, body: body.map { Data($0.utf8) })
                        .expectProblem("not-found", 404)
                }
            }
            #expect(try await app.pages(href).count == 2)
            for (method, path, body) in [
                (HTTPRequest.Method.delete, "", nil), (.patch, "", #"{"rotate_by":90}"#), (.get, "/thumbnail", nil),
            ] {
                try await app.ask(
                    method,
                    "\(href)/pages/0123456789abcdef\(path)",
                    body: body.map { Data($0.utf8) }
                ).expectProblem("not-found", 404)
            }
        }
    }
}
