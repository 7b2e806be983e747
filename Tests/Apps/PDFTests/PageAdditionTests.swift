import Foundation
import HTTPTypes
import Media
import Screens
import TestKit
import Testing

@testable import PDF

@Suite struct PageAdditionTests {
    private func add(
        _ app: PDFHarness,
        _ href: String,
        _ uploads: [PDFHarness.Upload],
        at place: String? = nil,
        query: String = "",
        _ fields: HTTPFields = [:]
    ) async throws -> Exchanged {
        var uploads = uploads
        if let place { uploads.append(.init(head: "Content-Disposition: form-data; name=\"at\"", Data(place.utf8))) }
        let form = MultipartForm(uploads)
        var headerFields = fields
        headerFields[.contentType] = form.contentType
        return try await app.ask(.post, "\(href)/pages\(query)", headerFields, body: form.body)
    }

    @Test("PDF-15 photos become pages of an existing document, at its end or at a place, in one change")
    func added() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two", name: "Trip")
            let version = try await app.get(href)["data.version"]
            let photos = [PDFHarness.photo("three"), PDFHarness.photo("four")]
            let added = try await add(app, href, photos)
            added.expectPDF("pdf.reader", status: 201)
            #expect(added["data.page_count"] == 4)
            #expect(try await app.paper(href) == ["jpeg one 0", "jpeg two 0", "jpeg three 0", "jpeg four 0"])
            let ids = try await app.pages(href)
            #expect(added["data.added.0"] == .string(ids[2]) && added["data.added.1"] == .string(ids[3]))
            #expect(added["data.notices"] == .array([]) && added["data.missing_characters"] == .array([]))
            #expect(added.all("kind", in: "data.pages") == ["image", "image", "image", "image"])
            #expect(added.headerFields[.eTag] == (try await app.get(href)).headerFields[.eTag])
            let first = try await add(app, href, [PDFHarness.pdf(["page x 0"], name: "x.pdf")], at: "1")
            #expect(first.status == 201, "\(first.text)")
            #expect(try await app.paper(href).first == "page x 0")
            #expect(first["data.pages.0.kind"] == "imported")
            #expect(version == 2 && first["data.version"] == 4)
            #expect(try app.blobFiles == 3, "two of them for an undo")
        }
    }

    @Test("PDF-15 a place beyond the end, a bad file or a lost race change nothing, and name what is wrong")
    func refused() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one")
            let before = try await app.get(href)
            for place in ["0", "3", "x", "1.5", "-1", ""] {
                try await add(app, href, [PDFHarness.photo("two")], at: place).expectProblem("validation-failed", 422)
            }
            let bad = try await add(app, href, [PDFHarness.photo("two"), PDFHarness.photo("damaged")])
            bad.expectProblem("damaged", 422)
            #expect(bad["errors.0.pointer"] == "/files/1")
            try await add(app, href, []).expectProblem("validation-failed", 422)
            try await add(app, href, [.init("a.txt", Data("text".utf8))]).expectProblem("unsupported-media-type", 415)
            try await add(app, href, [PDFHarness.photo("two")], [.ifMatch: "\"9\""])
                .expectProblem("precondition-failed", 412)
            try await add(app, "/v1/pdf/documents/0123456789abcdef", [PDFHarness.photo("two")])
                .expectProblem("not-found", 404)
            #expect(try await app.get(href).body == before.body)
            #expect(try app.blobFiles == 1)
        }
    }

    @Test("PDF-15 a document does not grow beyond its limit") func tooMany() async throws {
        try await PDFHarness.run(limits: .pages(2)) { app in
            let href = try await app.draft("one", "two")
            try await add(app, href, [PDFHarness.photo("three")]).expectProblem("too-many-pages", 413)
            #expect(try await app.pages(href).count == 2)
        }
    }

    @Test("PDF-16 paper, margins and quality are taken; others are 400 and name what is accepted")
    func parameters() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one")
            let query = "?page=letter&margin_mm=10&quality=medium"
            #expect(try await add(app, href, [PDFHarness.photo("two")], query: query).status == 201)
            let options = try #require(app.paper.options.last)
            #expect(options.layout.paper == .letter && options.quality == .medium && !options.keepsMetadata)
            #expect((options.layout.margin - 28.346).magnitude < 0.001)
            for query in ["?page=a6", "?margin_mm=36", "?margin_mm=-1", "?quality=best"] {
                try await add(app, href, [PDFHarness.photo("two")], query: query).expectProblem(
                    "invalid-parameter",
                    400
                )
                try await app.create([PDFHarness.photo("x")], query: query).expectProblem("invalid-parameter", 400)
            }
        }
        try await PDFHarness.run(settings: .standard.with(PDFApp.keepsMetadata, true)) { app in
            _ = try await app.draft("one")
            #expect(app.paper.options == [PictureOptions(keepsMetadata: true)])
        }
    }

    @Test("PDF-16 the PDF has the name of its document as title, after every kind of change") func title()
        async throws
    {
        try await PDFHarness.run { app in
            func expectTitle(_ href: String, _ sourceLocation: SourceLocation = #_sourceLocation) async throws {
                let document = try await app.get(href)
                let file = try await app.get("\(href)/file")
                #expect(
                    StubDocumentEngine.title(in: file.text) == (try document.string("data.name")),
                    sourceLocation: sourceLocation
                )
            }
            func ask(_ method: HTTPRequest.Method, _ path: String, _ json: String) async throws -> Exchanged {
                let response = try await app.ask(method, path, json: json)
                #expect([200, 201].contains(response.status), "\(path): \(response.text)")
                return response
            }
            let href = try await app.draft("one", "two")
            try await expectTitle(href)
            _ = try await ask(.post, "\(href)/save", #"{"name":"Отчёт"}"#)
            try await expectTitle(href)
            _ = try await ask(.patch, href, #"{"name":"Trip"}"#)
            try await expectTitle(href)
            _ = try await add(app, href, [PDFHarness.photo("three"), PDFHarness.pdf(["page x 0"], name: "x.pdf")])
            try await expectTitle(href)
            _ = try await ask(.post, "\(href)/pages", #"{"text":"dictated"}"#)
            try await expectTitle(href)
            let pages = try await app.pages(href)
            _ = try await ask(.patch, "\(href)/pages/\(pages[0])", #"{"rotate_by":90}"#)
            _ = try await app.ask(.delete, "\(href)/pages/\(pages[1])")
            try await expectTitle(href)
            let extracted = try await ask(.post, "\(href)/extract", #"{"pages":["\#(pages[0])"]}"#)
            try await expectTitle(extracted.string("data.href"))
            let (first, second) = (href.suffix(16), try await app.saved("four", name: "Other").suffix(16))
            let merged = try await ask(.post, "/v1/pdf/merge", #"{"first":"\#(first)","second":"\#(second)"}"#)
            try await expectTitle(merged.string("data.href"))
            let imported = try await app.create([PDFHarness.pdf(["page x 0"], name: "Scan.pdf")])
            #expect(imported["data.name"] == "Scan")
            try await expectTitle(imported.string("data.href"))
        }
    }

    @Test("PDF-15 what is neither a form nor JSON is 415 with both of them named") func mediaTypes() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one")
            let fields: HTTPFields = [.contentType: "text/plain"]
            let refused = try await app.ask(.post, "\(href)/pages", fields, body: Data("text".utf8))
            refused.expectProblem("unsupported-media-type", 415)
            let accepted = "accepted: application/json, multipart/form-data."
            let hint = "JSON is sent with the header field Content-Type: application/json."
            #expect(try refused.string("detail").hasSuffix("\(accepted) \(hint)"))
        }
    }

    @Test("TRUST-12 notices about a file name it") func notices() async throws {
        try await PDFHarness.run { app in
            let files = [PDFHarness.photo("one"), PDFHarness.photo("moving", name: "party.gif")]
            for query in ["", "?mode=separate"] {
                let created = try await app.create(files, query: query)
                #expect(created["data.notices.0.file"] == 1 && created["data.notices.1"] == nil)
                #expect(created["data.notices.0.code"] == "first-picture-only")
                #expect(try created.string("data.notices.0.text").hasPrefix("party.gif has several pictures"))
            }
            let added = try await add(app, try await app.draft("one"), files)
            #expect(added["data.notices.0.file"] == 1)
        }
    }
}
