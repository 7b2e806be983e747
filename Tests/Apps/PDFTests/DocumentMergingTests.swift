import HTTPTypes
import Screens
import TestKit
import Testing

@testable import PDF

@Suite struct DocumentMergingTests {
    private func merge(_ app: PDFHarness, _ first: String, _ second: String, _ more: String = "") async throws
        -> Exchanged
    {
        try await app.routes.ask(
            .post,
            "/v1/pdf/merge",
            json: #"{"first":"\#(first.suffix(16))","second":"\#(second.suffix(16))"\#(more)}"#
        )
    }

    @Test(
        "PDF-08 a third document with all pages of both in order; both originals are unchanged, the list has one more"
    )
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
            for href in [first, second] { _ = try await app.routes.ask(.delete, href) }
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
                let response = try await app.routes.ask(.post, "/v1/pdf/merge", json: body)
                response.expectProblem("validation-failed", 422)
                #expect(response.all("pointer", in: "errors").count == pointers)
            }
            try await app.routes.ask(.post, "/v1/pdf/merge", json: #"{"first":1,"second":2}"#).expectProblem(
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
                return try await app.routes.ask(.post, "/v1/pdf/merge", json: #"{"documents":[\#(list)]\#(more)}"#)
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
