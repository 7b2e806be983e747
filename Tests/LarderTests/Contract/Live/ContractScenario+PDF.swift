import Foundation
import TestKit
import Testing

/// Files that are text, so that a test sends them as one.
enum MadeFile {
    /// A TIFF (revision 6.0) of 8 × 8 grey pixels, uncompressed. No byte of it is above 127.
    static let tiff: String = {
        var bytes: [UInt8] = [0x49, 0x49, 0x2A, 0x00, 8, 0, 0, 0, 9, 0]
        let entries: [(tag: UInt16, value: UInt8)] = [
            (256, 8), (257, 8), (258, 8), (259, 1), (262, 1), (273, 122), (277, 1), (278, 8), (279, 64),
        ]
        for entry in entries {
            bytes += [UInt8(entry.tag & 0xFF), UInt8(entry.tag >> 8), 3, 0, 1, 0, 0, 0, entry.value, 0, 0, 0]
        }
        bytes += [0, 0, 0, 0] + (0..<64).map { $0 }
        return String(decoding: bytes, as: UTF8.self)
    }()

    /// A PDF with this number of empty pages, with its table of references (ISO 32000-1 §7.5).
    static func pdf(pages: Int) -> String {
        let kids = (0..<pages).map { "\($0 + 3) 0 R" }.joined(separator: " ")
        var objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [\(kids)] /Count \(pages) >>"]
        objects += (0..<pages).map { _ in "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] >>" }
        return document(objects, trailer: "")
    }

    /// A PDF with a password. Its encryption entries are arbitrary bytes, so no password opens it.
    static let encrypted = document(
        ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>", encryption],
        trailer: "/Encrypt 3 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] "
    )
    private static let encryption =
        "<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <\(String(repeating: "41", count: 32))>"
        + " /U <\(String(repeating: "42", count: 32))> >>"

    private static func document(_ objects: [String], trailer: String) -> String {
        var text = "%PDF-1.4\n"
        var places: [Int] = []
        for (index, object) in objects.enumerated() {
            places.append(text.utf8.count)
            text += "\(index + 1) 0 obj\n\(object)\nendobj\n"
        }
        let start = text.utf8.count
        let rows = places.map { place in String(repeating: "0", count: 10 - String(place).count) + "\(place) 00000 n \n"
        }.joined()
        text += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n\(rows)"
        return text + "trailer\n<< /Size \(objects.count + 1) /Root 1 0 R \(trailer)>>\nstartxref\n\(start)\n%%EOF\n"
    }
}

extension ContractScenario {
    static let pdfDocuments = "/v1/pdf/documents"
    static let pdfCreation = "POST /v1/pdf/documents"
    static let form = ["Content-Type": "multipart/form-data; boundary=part"]

    static func form(_ files: [(name: String, content: String)]) -> String {
        files.map {
            "--part\r\nContent-Disposition: form-data; name=\"files\"; filename=\"\($0.name)\"\r\n\r\n\($0.content)\r\n"
        }.joined() + "--part--\r\n"
    }

    /// Asks for an operation on a document and a page.
    @discardableResult
    func askPDF(
        _ operation: String,
        of document: Drawn = .nobody,
        query: String = "",
        _ headers: [String: String] = [:],
        body: String? = nil,
        isHead: Bool = false
    ) async throws -> ReceivedResponse {
        let (method, path) = Self.target(of: operation, ship: document.id, page: document.page)
        let sent = isHead ? "HEAD" : method
        let response = try await larder.send(sent, path + query, headers, body: body)
        await note(operation, "\(sent) \(path)\(query) \(headers) \(body?.prefix(60) ?? "")", response, isHead: isHead)
        return response
    }

    /// A document and its first page.
    struct Drawn: Sendable {
        var id: String
        var pages: [String]
        var page: String { pages.first ?? "nothing" }
        static let nobody = Drawn(id: "0123456789abcdef", pages: ["0123456789abcdef"])
    }

    func draft(_ files: [(name: String, content: String)], query: String = "") async throws -> Drawn {
        let response = try await askPDF(Self.pdfCreation, query: query, Self.form, body: Self.form(files))
        try #require(response.status == 201, "\(response.text)")
        let data = try #require(try response.json["data"])
        return Drawn(id: data["id"]?.string ?? "", pages: (data["pages"]?.array ?? []).compactMap { $0["id"]?.string })
    }

    /// Returns a body whose members are those of an operation, with values that it does not take.
    static func unacceptable(_ operation: String) -> String {
        switch operation.split(separator: "/").last {
        case "welcome": #"{"seen":1}"#
        case "merge": "{}"
        case "pages": #"{"text":" "}"#
        case "order", "extract", "delete": #"{"pages":[]}"#
        case "{page_id}": #"{"rotate_by":45}"#
        default: #"{"name":"a/b"}"#
        }
    }

    /// Every operation on a document's file, with a body that it takes.
    static func work(_ document: Drawn, with other: Drawn) -> [(operation: String, body: String?)] {
        let one = "{id}"
        return [
            ("GET \(pdfDocuments)/\(one)/thumbnail", nil),
            ("GET \(pdfDocuments)/\(one)/pages/{page_id}/thumbnail", nil),
            ("POST \(pdfDocuments)/\(one)/pages", #"{"text":"Hello","at":1}"#),
            (
                "PUT \(pdfDocuments)/\(one)/pages/order",
                #"{"pages":[\#(document.pages.reversed().map { "\"\($0)\"" }.joined(separator: ","))]}"#
            ),
            ("PATCH \(pdfDocuments)/\(one)/pages/{page_id}", #"{"rotate_by":90}"#),
            ("DELETE \(pdfDocuments)/\(one)/pages/{page_id}", nil),
            ("POST \(pdfDocuments)/\(one)/pages/delete", #"{"pages":["\#(document.page)"]}"#),
            ("POST \(pdfDocuments)/\(one)/extract", #"{"pages":["\#(document.page)"]}"#),
            ("POST /v1/pdf/merge", #"{"first":"\#(document.id)","second":"\#(other.id)"}"#),
        ]
    }

    /// Other names, which are written into a document's file.
    static let pdfNames: [(operation: String, body: String?)] = [
        ("PATCH \(pdfDocuments)/{id}", #"{"name":"Another"}"#),
        ("POST \(pdfDocuments)/{id}/save", #"{"name":"Another"}"#),
    ]

    /// Two saved documents with pages.
    func savedPair() async throws -> (Drawn, Drawn) {
        let pair = (
            try await draft([("one.tiff", MadeFile.tiff), ("two.pdf", MadeFile.pdf(pages: 3))]),
            try await draft([("three.pdf", MadeFile.pdf(pages: 1))], query: "?mode=separate&page=a4&tz=Europe/Paris")
        )
        for document in [pair.0, pair.1] {
            #expect(
                try await askPDF("POST \(Self.pdfDocuments)/{id}/save", of: document, body: #"{"name":"Saved"}"#).status
                    == 200
            )
        }
        return pair
    }

    /// The app as it works.
    func documents() async throws {
        for isHead in [false, true] {
            for screen in ["launch", "welcome"] { try await askPDF("GET /v1/pdf/\(screen)", isHead: isHead) }
        }
        try await askPDF("PUT /v1/pdf/welcome", body: #"{"seen":true}"#)
        try await askPDF("GET \(Self.pdfDocuments)")
        try await askPDF("GET \(Self.pdfDocuments)", query: "?q=saved&tz=UTC")
        let layout = "?page=a4&margin_mm=5&quality=80"
        try await askPDF(
            Self.pdfCreation,
            query: layout,
            Self.form,
            body: Self.form([("a.pdf", MadeFile.pdf(pages: 1))])
        )
        let opening = try await larder.listen { _ in true }
        let place = try #require(ServerSentEvents(opening.text).lastID)
        let (one, other) = try await savedPair()
        let spare = try await draft([("Spare.pdf", MadeFile.pdf(pages: 2))])
        try await askPDF(
            "POST \(Self.pdfDocuments)/{id}/pages",
            of: spare,
            query: layout,
            Self.form,
            body: Self.form([("a.pdf", MadeFile.pdf(pages: 1))])
        )
        for document in [one, spare] { try await shown(document) }
        try await parts(of: one)
        try await worked(on: one, with: other)
        try await documentLists()
        let page = try await askPDF("DELETE \(Self.pdfDocument)/pages/{page_id}", of: spare, query: "?permanently=true")
        #expect(page.status == 200)
        try await askPDF("DELETE \(Self.pdfDocument)", of: spare)
        try await documentDrafts()
        try await documentsTrash()
        let heard = try await larder.listen(["Last-Event-ID": place]) {
            $0.contains("event: job") && $0.contains("pdf.list")
        }
        await note("GET /v1/events", "while documents were made", heard)
    }

    static let pdfDocument = "\(pdfDocuments)/{id}"

    /// A document, its file and pictures; each is 304 for the tag that it had.
    private func shown(_ document: Drawn) async throws {
        let member = Self.pdfDocument
        for operation in [
            "GET \(member)", "GET \(member)/file", "GET \(member)/thumbnail",
            "GET \(member)/pages/{page_id}/thumbnail",
        ] {
            let response = try await askPDF(operation, of: document)
            #expect(response.status == 200, "\(operation) \(response.text.prefix(300))")
            try await askPDF(operation, of: document, isHead: true)
            let tag = try #require(response.headers["etag"])
            for isHead in [false, true] {
                let same = try await askPDF(operation, of: document, ["If-None-Match": tag], isHead: isHead)
                #expect(same.status == 304)
            }
        }
    }

    /// Parts, forms and another name of a document.
    private func parts(of one: Drawn) async throws {
        let member = Self.pdfDocument
        for operation in ["GET \(member)/thumbnail", "GET \(member)/pages/{page_id}/thumbnail"] {
            try await askPDF(operation, of: one, query: "?width=40")
        }
        try await askPDF("GET \(member)/file", of: one, ["Range": "bytes=0-9"])
        try await askPDF("GET \(member)/file", of: one, query: "?disposition=inline")
        try await askPDF("GET \(member)", of: one, query: "?tz=Europe/Moscow")
        try await askPDF("GET \(member)/file", of: one, ["Range": "bytes=99999999-"])
        try await askPDF("PATCH \(member)", of: one, body: #"{"name":"Отпуск"}"#)
        try await askPDF("GET \(member)/file", of: one)
    }

    /// All work on the pages of a document, and the way back.
    private func worked(on one: Drawn, with other: Drawn) async throws {
        let member = Self.pdfDocument
        for index in Self.work(one, with: other).indices {
            let pages = try await askPDF("GET \(member)", of: one).json.at(pointer: "/data/pages")?.array ?? []
            let now = Drawn(id: one.id, pages: pages.compactMap { $0["id"]?.string })
            let (operation, body) = Self.work(now, with: other)[index]
            let response = try await askPDF(operation, of: now, ["Accept-Encoding": "gzip"], body: body)
            #expect(response.status < 300, "\(operation): \(response.text)")
        }
        for (document, status) in [(one, 200), (other, 409)] {
            #expect(try await askPDF("POST \(member)/undo", of: document).status == status)
        }
    }

    private func documentLists() async throws {
        for query in ["", "?limit=1", "?limit=1&offset=1"] {
            try await askPDF("GET \(Self.pdfDocuments)", query: query, ["Accept-Encoding": "gzip"])
        }
        try await askPages("GET \(Self.pdfDocuments)")
        for operation in ["GET \(Self.pdfDocuments)", "GET /v1/pdf/launch", "GET /v1/pdf/welcome"] {
            let tag = try #require(try await askPDF(operation).headers["etag"])
            for isHead in [false, true] { try await askPDF(operation, ["If-None-Match": tag], isHead: isHead) }
        }
    }

    /// Documents that are not saved.
    private func documentDrafts() async throws {
        let drafts = "GET /v1/pdf/drafts"
        #expect(try await askPDF(drafts, query: "?tz=Europe/Moscow").status == 200)
        #expect(try await askPDF(drafts, query: "?tz=Nowhere").status == 400)
        let tag = try #require(try await askPDF(drafts).headers["etag"])
        for isHead in [false, true] { try await askPDF(drafts, ["If-None-Match": tag], isHead: isHead) }
    }

    /// Deleted documents: restored, deleted for good one by one and all together.
    private func documentsTrash() async throws {
        let (trash, one, member) = ("/v1/pdf/trash", "/v1/pdf/trash/{id}", "\(Self.pdfDocuments)/{id}")
        try await askPDF("GET \(trash)")
        let (first, second) = try await savedPair()
        for document in [first, second] { #expect(try await askPDF("DELETE \(member)", of: document).status == 200) }
        for query in ["", "?limit=1&offset=1&tz=UTC", "?limit=0", "?offset=x", "?tz=Mars"] {
            for isHead in [false, true] { try await askPDF("GET \(trash)", query: query, isHead: isHead) }
        }
        try await askPages("GET \(trash)")
        let tag = try #require(try await askPDF("GET \(trash)").headers["etag"])
        #expect(try await askPDF("GET \(trash)", ["If-None-Match": tag]).status == 304)
        let stale = ["If-Match": "\"0\""]
        for operation in ["POST \(one)/restore", "DELETE \(one)"] {
            #expect(try await askPDF(operation).status == 404)
            #expect(try await askPDF(operation, of: first, stale).status == 412)
        }
        for _ in 1...2 { #expect(try await askPDF("POST \(one)/restore", of: first).status == 200) }
        #expect(try await askPDF("DELETE \(one)", of: second).status == 200)
        #expect(try await askPDF("DELETE \(trash)", stale).status == 412)
        #expect(try await askPDF("DELETE \(trash)").status == 200)
        #expect(try await askPDF("DELETE \(member)", of: first, query: "?permanently=true").status == 200)
    }
}
