import HTTPTypes
import Media
import TestKit
import Testing

@testable import PDF

@Suite struct TextPagesTests {
    private func add(_ app: PDFHarness, _ href: String, _ body: String) async throws -> Exchanged {
        try await app.ask(.post, "\(href)/pages", json: body)
    }

    @Test("PDF-09 dictated text becomes pages at the end or at a position; overflow continues on further pages")
    func pages() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two")
            let added = try await add(app, href, #"{"text":"Привет, мир! Это диктовка.","locale":"ru"}"#)
            added.expectPDF("pdf.reader", status: 201)
            #expect(added.headerFields[.location] == href)
            #expect(added.all("kind", in: "data.pages") == ["image", "image", "text", "text"])
            #expect(
                added["data.added"] == .array([added["data.pages.2.id"] ?? .null, added["data.pages.3.id"] ?? .null])
            )
            #expect(added["data.missing_characters"] == [])
            #expect(
                try await app.paper(href) == [
                    "jpeg one 0", "jpeg two 0", "text Привет, мир! Это дик (ru) 0", "text товка. (ru) 0",
                ]
            )
            let first = try await add(app, href, #"{"text":"title","at":1}"#)
            #expect(first.all("kind", in: "data.pages").first == "text")
            #expect(try await add(app, href, #"{"text":"end","at":6}"#).all("number", in: "data.pages").count == 6)
            #expect(try await app.paper(href).first == "text title 0")
            #expect(try await app.paper(href).last == "text end 0")
        }
    }

    @Test("PDF-09 characters that no font has are reported")
    func missing() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one")
            let added = try await add(app, href, #"{"text":"snow ☃"}"#)
            #expect(added["data.missing_characters"] == ["☃"])
        }
    }

    @Test("PDF-09 a text of which no font has any character is 422 that says so, and the document stays as it is")
    func nothingToDraw() async throws {
        let paper = StubDocumentEngine()
        var engine = paper.engine
        engine.textPages = { _, _, _, _ in throw MediaError.noGlyphs }
        try await PDFHarness.run(paper: paper, engine: engine) { app in
            let href = try await app.draft("one")
            let response = try await add(app, href, #"{"text":"नमस्ते"}"#)
            response.expectProblem("validation-failed", 422)
            #expect(response["errors.0.pointer"] == "/text" && response["errors.0.code"] == "no-glyphs")
            #expect(try await app.paper(href) == ["jpeg one 0"])
        }
    }

    @Test(
        "PDF-09 what cannot become a page is 422 that names the field, and the document stays as it is",
        arguments: [
            (#"{}"#, "/text"), (#"{"text":""}"#, "/text"), (#"{"text":" \n\t\u00a0\u3000"}"#, "/text"),
            (#"{"text":"\u0007"}"#, "/text"),
            (#"{"text":"\u200b\ufeff \u200e"}"#, "/text"),
            (#"{"text":7}"#, "/text"),
            (#"{"text":"a\u0000b"}"#, "/text"), (#"{"text":"a","at":0}"#, "/at"), (#"{"text":"a","at":3}"#, "/at"),
            (#"{"text":"a","at":1.5}"#, "/at"),
            (#"{"text":"a","at":"1"}"#, "/at"), (#"{"text":"a","locale":""}"#, "/locale"),
            (#"{"text":"a","locale":"../etc"}"#, "/locale"),
            (#"{"text":"a","locale":"русский"}"#, "/locale"), (#"{"text":"a","locale":5}"#, "/locale"),
        ]
    )
    func refusals(body: String, pointer: String) async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one")
            let response = try await add(app, href, body)
            response.expectProblem("validation-failed", 422)
            #expect(response["errors.0.pointer"] == .string(pointer))
            #expect(try await app.paper(href) == ["jpeg one 0"])
            #expect(app.paper.calls == ["pages"])
        }
    }

    @Test("PDF-09 the limits of text and pages are 413, also where every byte of the text is escaped")
    func limits() async throws {
        try await PDFHarness.run(limits: .pages(3, textBytes: 100)) { app in
            let href = try await app.draft("one")
            let escaped = String(repeating: "\\u0061", count: 100)
            try await add(app, href, #"{"text":"\#(escaped)"}"#).expectProblem("too-many-pages", 413)
            let long = try await add(app, href, #"{"text":"\#(escaped)b"}"#)
            long.expectProblem("too-large", 413)
            #expect(long["errors.0.pointer"] == "/text")
            try await add(app, href, #"{"text":"\#(String(repeating: "x", count: 10_000))"}"#).expectProblem(
                "too-large",
                413
            )
            #expect(
                try await add(app, href, #"{"text":"\#(String(repeating: "x", count: 40))"}"#)["data.page_count"] == 3
            )
            #expect(try await app.paper(href).count == 3)
        }
    }
}
