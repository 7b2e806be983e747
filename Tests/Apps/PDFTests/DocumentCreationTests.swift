import Foundation
import GRDB
import HTTPTypes
import Media
import Screens
import Storage
import TestKit
import Testing

@testable import PDF

@Suite struct DocumentCreationTests {
    @Test("PDF-22 a new document is named in the time zone and language of its user; an unknown zone is refused")
    func zonedName() async throws {
        try await PDFHarness.run { app in
            let photo = [PDFHarness.photo("one")]
            let zone = "?tz=Asia/Vladivostok"
            let created = try await app.create(photo, query: zone, [.acceptLanguage: "ru"])
            #expect(created.status == 201 && created["meta.screen"] == "pdf.created")
            #expect(created["data.name"] == "Документ 2026-01-05 20-00")
            let both = try await app.create(photo + photo, query: zone + "&mode=separate", [.acceptLanguage: "en"])
            #expect(
                both.strings("name", in: "data.documents")
                    == ["Document 2026-01-05 20-00", "Document 2026-01-05 20-00 2"]
            )
            try await app.create(photo, query: "?tz=Nowhere").expectProblem("invalid-parameter", 400)
        }
    }

    @Test("PDF-23 deleting a page asks for a confirmation, in both languages")
    func pageConfirmation() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            for (language, message) in [
                ("en", "Delete this page?"), ("ru", "Удалить эту страницу?"),
            ] {
                let reader = try await app.ask(.get, href, [.acceptLanguage: language])
                #expect(reader["data.pages.0.actions.1.id"] == "delete")
                #expect(reader["data.pages.0.actions.1.confirm.message"] == .string(message))
            }
        }
        try await PDFHarness.run(settings: .standard.with(PDFApp.trashLifetime, .zero)) { app in
            let reader = try await app.get(try await app.draft("one", "two"))
            let message = reader["data.pages.0.actions.1.confirm.message"]
            #expect(message == "Delete this page? This cannot be undone.")
        }
    }

    @Test("PDF-02 PDF-05 several photos become one draft, a page each, in order; it is readable and shared, not listed")
    func single() async throws {
        try await PDFHarness.run { app in
            let created = try await app.create(["one", "two", "three"].map { PDFHarness.photo($0) })
            created.expectPDF("pdf.created", status: 201)
            let href = try created.string("data.href")
            #expect(created.headerFields[.location] == href)
            #expect(created["data.status"] == "draft")
            #expect(created["data.name"] == "Document 2026-01-05 10-00")
            #expect(created["data.extension"] == "pdf")
            #expect(created["data.created_at"] == "2026-01-05T10:00:00Z")
            #expect(created["data.created_text"] == "5 January 2026, 10:00")
            #expect(created["data.draft_until"] == "2026-01-06T10:00:00Z")
            #expect(created["data.page_count"] == 3)
            #expect(created.strings("href", in: "data.documents") == [href])
            #expect(try await app.paper(href) == ["jpeg one 0", "jpeg two 0", "jpeg three 0"])
            let read = try await app.get(href)
            read.expectPDF("pdf.reader")
            #expect(read.all("number", in: "data.pages") == [1, 2, 3])
            #expect(read.all("kind", in: "data.pages") == ["image", "image", "image"])
            #expect(read.all("rotation", in: "data.pages") == [0, 0, 0])
            #expect(read["data.pages.0.width"] == 30 && read["data.pages.0.height"] == 40)
            #expect(Set(read.strings("id", in: "data.pages")).count == 3)
            #expect(try read.string("data.pages.0.thumbnail_url").hasPrefix(href))
            #expect(read["data.documents"] == nil)
            #expect(try await app.listed() == [])
        }
    }

    @Test("PDF-02 separate: a document each, in order; a4: pages of that size")
    func separate() async throws {
        try await PDFHarness.run { app in
            let created = try await app.create(
                [PDFHarness.photo("one"), PDFHarness.photo("two")],
                query: "?mode=separate&page=a4"
            )
            #expect(created["data.page_count"] == 1)
            #expect(created["data.pages.0.width"] == 595)
            #expect(
                created.all("name", in: "data.documents") == [
                    "Document 2026-01-05 10-00", "Document 2026-01-05 10-00 2",
                ]
            )
            let hrefs = created.strings("href", in: "data.documents")
            #expect(hrefs.count == 2 && created["data.href"] == .string(hrefs[0]))
            #expect(try await app.paper(hrefs[0]) == ["jpeg one 0"])
            #expect(try await app.paper(hrefs[1]) == ["jpeg two 0"])
        }
    }

    @Test("PDF-02 accepted types are recognised by their bytes, whatever the name; mixed types become one document")
    func types() async throws {
        let beginnings: [(PictureFormat, [UInt8])] = [
            (.jpeg, [0xFF, 0xD8, 0xFF, 0xE1]), (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
            (.gif, Array("GIF89a".utf8)),
            (.gif, Array("GIF87a".utf8)),
            (.webp, Array("RIFFxxxxWEBPVP8 ".utf8)), (.tiff, [0x49, 0x49, 0x2A, 0x00]),
            (.tiff, [0x4D, 0x4D, 0x00, 0x2A]),
            (.heic, [0, 0, 0, 24] + Array("ftypheic".utf8) + [0, 0, 0, 0] + Array("mif1heic".utf8)),
            (.heic, [0, 0, 0, 24] + Array("ftypmif1".utf8) + [0, 0, 0, 0] + Array("mif1heix".utf8)),
            (.avif, [0, 0, 0, 28] + Array("ftypmif1".utf8) + [0, 0, 0, 0] + Array("mif1avifmiaf".utf8)),
            (.avif, [0, 0, 0, 24] + Array("ftypavif".utf8) + [0, 0, 0, 0] + Array("avifmif1".utf8)),
        ]
        for (format, bytes) in beginnings { #expect(SourceFormat(signature: bytes) == .picture(format)) }
        try await PDFHarness.run { app in
            let uploads =
                beginnings.map { PDFHarness.Upload("photo.svg", Data($0.1) + Data("|\($0.0)".utf8)) } + [
                    PDFHarness.pdf(["old page 90"], name: "old.txt")
                ]
            let created = try await app.create(uploads)
            #expect(created.status == 201)
            #expect(created["data.page_count"] == .number(Double(beginnings.count + 1)))
            #expect(created["data.pages.11.kind"] == "imported" && created["data.pages.11.rotation"] == 90)
            #expect(try await app.paper(try created.string("data.href")).last == "old page 90")
        }
    }

    @Test(
        "PDF-04 what is none of the accepted types is 415 that names the file and lists them; nothing is created",
        arguments: [
            "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "BM\u{1}\u{2}\u{3}\u{4}", "just text",
            String(repeating: " ", count: 1024) + "%PDF-1.4",
            "\u{0}\u{0}\u{0}\u{18}ftypqt  ", "RIFFxxxxWAVE",
            "GIF88a", "\u{0}",
        ]
    )
    func unsupported(content: String) async throws {
        try await PDFHarness.run { app in
            let response = try await app.create([
                PDFHarness.photo("fine"), PDFHarness.Upload("holiday.png", Data(content.utf8)),
            ])
            response.expectProblem("unsupported-media-type", 415)
            #expect(try response.string("detail").contains("holiday.png"))
            for type in ["jpeg", "png", "heic", "webp", "gif", "tiff", "avif"].map({ "image/\($0)" }) + [
                "application/pdf"
            ] {
                #expect(try response.string("detail").contains(type))
            }
            #expect(response["errors.0.pointer"] == "/files/1")
            #expect(app.paper.calls == [])
            #expect(try app.blobFiles == 0)
        }
    }

    @Test("PDF-23 a PDF that needs a password opens with the part password, in a new document and in an old one")
    func password() async throws {
        try await PDFHarness.run { app in
            func password(_ text: String) -> FormFile {
                FormFile(head: #"Content-Disposition: form-data; name="password""#, Data(text.utf8))
            }
            let locked = PDFHarness.pdf(["encrypted page"], name: "bank.pdf")
            for wrong in [[locked], [locked, password("")], [password("other"), locked]] {
                try await app.create(wrong).expectProblem("encrypted", 422)
            }
            let made = try await app.create([password("secret"), locked])
            #expect(made.status == 201 && made["data.name"] == "bank" && made["data.page_count"] == 1)
            #expect(!made.text.contains("secret"))
            let href = try await app.draft("one")
            let form = MultipartForm([locked, password("secret")])
            let target = "\(href)/pages"
            let added = try await app.ask(.post, target, [.contentType: form.contentType], body: form.body)
            #expect(added.status == 201 && added["data.page_count"] == 2)
            let create = try await app.get("/v1/pdf/documents")["data.actions"]?.elements.first {
                $0["id"] == "create"
            }
            #expect(create?.fields[1].kind == "password" && create?.fields[1].required == false)
        }
    }

    @Test(
        "PDF-04 PDF-12 a file that the engine finds fault with is named, in both modes, and nothing is created",
        arguments: [
            ("damaged", "damaged", 422), ("encrypted", "encrypted", 422), ("bytes", "too-large", 413),
            ("pixels", "too-large", 413), ("slow", "timed-out", 422),
        ],
        ["single", "separate"]
    )
    func faults(fault: (content: String, code: String, status: Int), mode: String) async throws {
        try await PDFHarness.run { app in
            let response = try await app.create(
                [PDFHarness.photo("fine"), PDFHarness.photo(fault.content, name: "holiday.jpg")],
                query: "?mode=\(mode)"
            )
            response.expectProblem(fault.code, fault.status)
            #expect(try response.string("detail").hasPrefix("holiday.jpg "))
            #expect(response["errors.0.code"] == .string(fault.code))
            #expect(response["errors.0.pointer"] == "/files/1")
            #expect(try app.database.integer("SELECT count(*) FROM pdf_document") == 0)
            #expect(try app.blobFiles == 0)
        }
    }

    @Test("A program that is missing is named with its package, and the rest works")
    func toolMissing() async throws {
        try await PDFHarness.run { app in
            let response = try await app.create([PDFHarness.photo("missing")])
            response.expectProblem("tool-missing", 501)
            let detail = try response.string("detail")
            #expect(detail.contains("vips") && detail.contains("libvips-tools"))
            #expect(try await app.create([PDFHarness.photo("fine")]).status == 201)
        }
    }

    @Test("PDF-02 no file and an empty input are 422, another field is 400; nameless parts count if declared as files")
    func noFiles() async throws {
        try await PDFHarness.run { app in
            let field = PDFHarness.Upload(head: "Content-Disposition: form-data; name=\"mode\"", Data("separate".utf8))
            let unchosen = PDFHarness.Upload(
                head:
                    "Content-Disposition: form-data; name=\"files\"; filename=\"\"\r\n"
                    + "Content-Type: application/octet-stream",
                Data()
            )
            for uploads in [[], [unchosen]] {
                let response = try await app.create(uploads)
                response.expectProblem("validation-failed", 422)
                #expect(response["errors.0.code"] == "required")
            }
            for uploads in [[field], [unchosen, field], [PDFHarness.photo("x"), field]] {
                let response = try await app.create(uploads)
                response.expectProblem("malformed-request", 400)
                #expect(response["errors.0.pointer"] == "/mode" && response["errors.0.code"] == "unknown")
            }
            try await app.ask(.post, "/v1/pdf/documents").expectProblem("validation-failed", 422)
            let nameless = PDFHarness.Upload(
                head: "Content-Disposition: form-data; name=\"files\"\r\nContent-Type: image/jpeg",
                PDFHarness.photo("x").bytes
            )
            #expect(try await app.create([nameless, unchosen])["data.page_count"] == 1)
            let nothing = PDFHarness.Upload(
                head: "Content-Disposition: form-data; name=\"files\"\r\nContent-Type: image/jpeg",
                Data("text".utf8)
            )
            #expect(try await app.create([nothing]).string("detail").hasPrefix("file 1 "))
            let empty = try await app.create([PDFHarness.Upload("empty.jpg", Data())])
            empty.expectProblem("damaged", 422)
            #expect(try empty.string("detail").contains("empty.jpg"))
        }
    }

    @Test(
        "PDF-20 each notice is a sentence that names the file, in both languages",
        arguments: InputNotice.Kind.allCases
    )
    func notices(kind: InputNotice.Kind) throws {
        let notice = FileNotice(InputNotice(input: 4, kind: kind), [])
        #expect(notice.code == kind.rawValue && notice.file == 4)
        let texts = [notice.text.english, notice.text.russian]
        #expect(Set(texts).count == 2 && texts.allSatisfy { $0.contains("file 5") && $0.hasSuffix(".") })
    }

    @Test("A body that is no form, or a broken one, is 415 or 400")
    func broken() async throws {
        try await PDFHarness.run { app in
            let photo = PDFHarness.photo("a").bytes
            let jpeg = try await app.ask(.post, "/v1/pdf/documents", [.contentType: "image/jpeg"], body: photo)
            jpeg.expectProblem("unsupported-media-type", 415)
            #expect(try jpeg.string("detail").contains("multipart/form-data"))
            let bodies = [
                "", "--x\r\n", "--x\r\nno header\r\n\r\n",
                "--x\r\nContent-Disposition: form-data; name=a; filename=a.jpg\r\n\r\nabc", "no boundary at all",
            ]
            for body in bodies {
                let response = try await app.ask(
                    .post,
                    "/v1/pdf/documents",
                    [.contentType: "multipart/form-data; boundary=x"],
                    body: Data(body.utf8)
                )
                response.expectProblem("malformed-request", 400)
            }
            let long = "multipart/form-data; boundary=\(String(repeating: "b", count: 71))"
            try await app.ask(.post, "/v1/pdf/documents", [.contentType: long], body: photo).expectProblem(
                "malformed-request",
                400
            )
            for query in ["?mode=both", "?page=b5", "?mode=single&mode=single"] {
                try await app.create([PDFHarness.photo("a")], query: query).expectProblem("invalid-parameter", 400)
            }
            #expect(app.paper.calls == [])
        }
    }

    @Test("PDF-12 a lone PDF keeps its name where a document may be called so")
    func importedName() async throws {
        try await PDFHarness.run { app in
            let names = [
                ("Contract.PDF", "Contract"), ("Отчёт 2025.pdf", "Отчёт 2025"), (".pdf", "Document 2026-01-05 10-00"),
            ]
            for (fileName, name) in names {
                let created = try await app.create([PDFHarness.pdf(["p 0"], name: fileName)])
                #expect(created["data.name"] == .string(name))
            }
            let both = try await app.create([PDFHarness.pdf(["p 0"], name: "a.pdf"), PDFHarness.photo("b")])
            #expect(both["data.name"] == "Document 2026-01-05 10-00 2")
        }
    }

    @Test("PDF-22 documents of the same minute have numbers in their names, those of other profiles and minutes not")
    func namesOfOneMinute() async throws {
        try await PDFHarness.run { app in
            let photo = [PDFHarness.photo("one")]
            func name(_ fields: HTTPFields = [:]) async throws -> JSON? {
                try await app.create(photo, fields)["data.name"]
            }
            #expect(try await name() == "Document 2026-01-05 10-00")
            #expect(try await name() == "Document 2026-01-05 10-00 2")
            #expect(try await name([.larderProfile: "other"]) == "Document 2026-01-05 10-00")
            let both = try await app.create(photo + photo, query: "?mode=separate")
            #expect(
                both.strings("name", in: "data.documents")
                    == ["Document 2026-01-05 10-00 3", "Document 2026-01-05 10-00 4"]
            )
            app.clock.advance(by: .seconds(60))
            #expect(try await name() == "Document 2026-01-05 10-01")
        }
    }

    @Test("PDF-22 documents that are made at once have different names, which are the titles of their files")
    func namesAtOnce() async throws {
        try await PDFHarness.run { app in
            app.paper.hold()
            async let all = (0..<16).concurrentMap { _ in try await app.create([PDFHarness.photo("one")]) }
            await app.paper.isHolding(16)
            app.paper.release()
            let documents = try await all
            let names = try documents.map { try $0.string("data.name") }
            let standard = "Document 2026-01-05 10-00"
            #expect(Set(names) == Set([standard] + (2...16).map { "\(standard) \($0)" }))
            for (document, name) in zip(documents, names) {
                let href = try document.string("data.href").prefix { $0 != "?" }
                let file = try await app.get("\(href)/file")
                #expect(StubDocumentEngine.title(in: file.text) == name)
            }
            #expect(app.paper.calls.count == 16, "none is made twice")
        }
    }

    @Test("PDF-22 a default name whose document was not made is used again")
    func nameOfFailure() async throws {
        try await PDFHarness.run { app in
            #expect(try await app.create([PDFHarness.photo("damaged")]).status != 201)
            let created = try await app.create([PDFHarness.photo("one")])
            #expect(created["data.name"] == "Document 2026-01-05 10-00")
        }
    }

    @Test("Same input, same file, byte for byte")
    func deterministic() async throws {
        try await PDFHarness.run { app in
            // The name, which is the title of the file, differs within a profile.
            let (first, second) = (try await app.draft("a", "b"), try await app.draft("a", "b", profile: "other"))
            #expect(first != second)
            let files = [
                try await app.get("\(first)/file"), try await app.get("\(second)/file", [.larderProfile: "other"]),
            ]
            #expect(files.allSatisfy { $0.status == 200 } && files[0].body == files[1].body)
        }
    }

    @Test("PDF-02 a creation is a job under the request's identity, published from its start to its end or failure")
    func progress() async throws {
        try await PDFHarness.run { app in
            _ = try await app.create([PDFHarness.photo("a"), PDFHarness.photo("b")], [.requestID: "upload-1"])
            let expected = [("running", 0), ("running", 50), ("running", 95), ("done", 100)].map { status, percent in
                let progress = Double(percent) / 100
                return #"{"app":"pdf","id":"upload-1","status":"\#(status)","percent":\#(percent),"#
                    + #""kind":"conversion","state":"\#(status)","progress":\#(progress)}"#
            }
            #expect(app.jobs == expected)
            _ = try await app.create([PDFHarness.photo("a"), PDFHarness.photo("damaged")], [.requestID: "upload-2"])
            let failed = #"{"app":"pdf","id":"upload-2","status":"failed","percent":50,"kind":"conversion","#
            #expect(app.jobs.last == failed + #""state":"failed","progress":0.5}"#)
        }
    }
}
