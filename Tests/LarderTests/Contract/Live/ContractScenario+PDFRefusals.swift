import Foundation
import TestKit
import Testing

@testable import Larder

extension ContractScenario {
    /// Requests that are refused before any program works on the document.
    func documentsRefused() async throws {
        let (one, other) = try await savedPair()
        let draft = try await draft([("a.pdf", MadeFile.pdf(pages: 1))])
        let member = "\(Self.pdfDocuments)/{id}"
        let work = Self.work(.nobody, with: .nobody)
        let simple: [(String, String?)] = [
            ("GET \(member)", nil), ("PATCH \(member)", #"{"name":"a"}"#), ("DELETE \(member)", nil),
            ("POST \(member)/save", "{}"), ("POST \(member)/undo", nil),
            ("GET \(member)/file", nil),
        ]
        for (operation, body) in simple + work.filter({ !$0.operation.hasSuffix("merge") }) {
            #expect(try await askPDF(operation, body: body).status == 404)
        }
        let creations = [
            ("PUT /v1/pdf/welcome", #"{"seen":true}"#),
            (Self.pdfCreation, Self.form([("a.pdf", MadeFile.pdf(pages: 1))])),
        ]
        let changes = (simple + Self.work(one, with: other) + creations).filter { !$0.0.hasPrefix("GET") }
        for (operation, body) in changes {
            let headers = ["If-Match": "\"0\""].merging(operation == Self.pdfCreation ? Self.form : [:]) { own, _ in own
            }
            #expect(try await askPDF(operation, of: one, headers, body: body).status == 412, "\(operation)")
        }
        try await askPDF("POST /v1/pdf/merge", body: #"{"first":"\#(one.id)","second":"0123456789abcdef"}"#)
        try await askPDF("POST /v1/pdf/merge", body: #"{"first":"\#(one.id)","second":"\#(draft.id)"}"#)
        try await askPDF("POST /v1/pdf/merge", body: #"{"first":"\#(one.id)","second":"\#(one.id)"}"#)
        try await askPDF("POST /v1/pdf/merge", body: #"{"documents":["\#(one.id)"]}"#)
        try await askPDF("DELETE \(member)/pages/{page_id}", of: other)
        try await askPDF("POST \(member)/pages/delete", of: other, body: #"{"pages":["\#(other.page)"]}"#)
        for operation in ["GET \(member)/thumbnail", "GET \(member)/pages/{page_id}/thumbnail"] {
            try await askPDF(operation, of: one, query: "?width=0")
        }
        for query in ["?limit=0", "?offset=x"] { try await askPDF("GET \(Self.pdfDocuments)", query: query) }
        try await bodiesRefused(of: one, (simple + work).filter { $0.1 != nil }.map(\.0))
        for operation in try OpenAPIDocument.load().operations where operation.path.hasPrefix("/v1/pdf/") {
            try await askPDF(
                operation.key,
                of: one,
                ["Larder-Profile": "a b"].merging(operation.key == Self.pdfCreation ? Self.form : [:]) { own, _ in own
                },
                body: operation.method == "GET" ? nil : "{}"
            )
        }
    }

    /// Requests with a body that is not JSON, of another type, wrong or too large.
    private func bodiesRefused(of one: Drawn, _ operations: [String]) async throws {
        for operation in ["PUT /v1/pdf/welcome", "POST \(Self.pdfDocument)/save"] + operations {
            try await askPDF(operation, of: one, body: "{")
            try await askPDF(operation, of: one, ["Content-Type": "text/plain"], body: "{}")
            let wrong = try await askPDF(operation, of: one, body: Self.unacceptable(operation))
            #expect(wrong.status == 422, "\(operation)")
            // A little more than each takes: of much more, the server would not read the end.
            let size =
                operation.hasSuffix("/pages")
                ? 1_100_000 : ["/order", "/extract", "/delete"].contains { operation.hasSuffix($0) } ? 130_000 : 70_000
            let large = #"{"text":"\#(String(repeating: "x", count: size))"}"#
            #expect(try await askPDF(operation, of: one, body: large).status == 413, "\(operation)")
        }
    }

    func uploadsRefused() async throws {
        for query in ["?mode=both", "?page=letter"] {
            try await askPDF(Self.pdfCreation, query: query, Self.form, body: Self.form([]))
        }
        try await askPDF(Self.pdfCreation, Self.form, body: "--part\r\n")
        try await askPDF(Self.pdfCreation, ["Content-Type": "image/jpeg"], body: "x")
        let files: [(String, String)] = [
            ("none", ""), ("a.bmp", "BM......"), ("damaged.tiff", String(MadeFile.tiff.prefix(60))),
            ("secret.pdf", MadeFile.encrypted),
        ]
        let statuses = try await files.asyncMap { name, content in
            try await askPDF(
                Self.pdfCreation,
                Self.form,
                body: Self.form(name == "none" ? [] : [("fine.pdf", MadeFile.pdf(pages: 1)), (name, content)])
            )
        }
        #expect(
            statuses.map(\.problemCode) == ["validation-failed", "unsupported-media-type", "damaged", "encrypted"],
            "\(statuses.map(\.text))"
        )
        let ofDisk = try await files.suffix(2).asyncMap { try await documentOfDisk($0.0, $0.1).problemCode }
        #expect(ofDisk == ["damaged", "encrypted"])
        #expect(try await askPDF("GET \(Self.pdfDocuments)").json.at(pointer: "/data/items")?.array?.isEmpty == true)
    }

    /// A server with small limits.
    func documentsTooLarge() async throws {
        let response = try await askPDF(
            Self.pdfCreation,
            Self.form,
            body: Self.form([("long.pdf", MadeFile.pdf(pages: 4))])
        )
        #expect(response.problemCode == "too-many-pages")
        #expect(try await documentOfDisk("long.pdf", MadeFile.pdf(pages: 4)).problemCode == "too-many-pages")
        let large = MadeFile.pdf(pages: 1) + String(repeating: "%", count: 1 << 20)
        #expect(
            try await askPDF(Self.pdfCreation, Self.form, body: Self.form([("large.pdf", large)])).problemCode
                == "too-large"
        )
        let pair = [
            try await draft([("a.pdf", MadeFile.pdf(pages: 3))]), try await draft([("b.pdf", MadeFile.pdf(pages: 1))]),
        ]
        for document in pair { try await askPDF("POST \(Self.pdfDocuments)/{id}/save", of: document) }
        #expect(
            try await askPDF("POST \(Self.pdfDocuments)/{id}/pages", of: pair[0], body: #"{"text":"a"}"#).problemCode
                == "too-many-pages"
        )
        #expect(
            try await askPDF("POST /v1/pdf/merge", body: #"{"first":"\#(pair[0].id)","second":"\#(pair[1].id)"}"#)
                .problemCode == "too-many-pages"
        )
    }

    /// A document whose file was damaged on the disk.
    func documentsDamaged() async throws {
        let (one, other) = try await savedPair()
        let folder = larder.directory.appending(path: "blobs")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try Data("garbage".utf8).write(to: folder.appending(path: name))
        }
        try await expectOfWork("damaged", on: one, with: other)
    }

    /// Requests every operation on a document's file; each responds with this problem and changes nothing.
    func expectOfWork(_ code: String, on document: Drawn, with other: Drawn) async throws {
        for (operation, body) in Self.work(document, with: other) + Self.pdfNames {
            let response = try await askPDF(
                operation,
                of: document,
                query: operation.hasPrefix("GET") ? "?width=77" : "",
                body: body
            )
            #expect(response.problemCode == code, "\(operation): \(response.text)")
        }
        let now = try await askPDF("GET \(Self.pdfDocuments)/{id}", of: document).json.at(pointer: "/data/pages")?
            .array?
            .compactMap { $0["id"]?.string }
        #expect(now == document.pages)
    }

    /// A database that is closed.
    static let pdfBodies: [String: String] = [
        "PUT /v1/pdf/welcome": #"{"seen":true}"#, "PATCH /v1/pdf/documents/{id}": #"{"name":"a"}"#,
        "POST /v1/pdf/documents/{id}/pages": #"{"text":"a"}"#,
        "PUT /v1/pdf/documents/{id}/pages/order": #"{"pages":["a"]}"#,
        "POST /v1/pdf/documents/{id}/pages/delete": #"{"pages":["a"]}"#,
        "PATCH /v1/pdf/documents/{id}/pages/{page_id}": #"{"rotate_by":90}"#,
        "POST /v1/pdf/documents/{id}/extract": #"{"pages":["a"]}"#,
        "POST /v1/pdf/merge": #"{"first":"0123456789abcdef","second":"0123456789abcdea"}"#,
        "POST /v1/pdf/documents": ContractScenario.form([("a.pdf", MadeFile.pdf(pages: 1))]),
        "POST /v1/pdf/documents/from-disk": #"{"path":"disk:/a.jpg"}"#,
        "POST /v1/pdf/documents/{id}/save-to-disk": #"{"path":"disk:/a.pdf"}"#,
    ]

    func brokenDocuments() async throws {
        let member = try await diskSession()
        try await larder.application.close()
        for operation in try OpenAPIDocument.load().operations where operation.path.hasPrefix("/v1/pdf/") {
            let headers =
                operation.key == Self.pdfCreation ? Self.form : operation.value["security"] == nil ? [:] : member
            let response = try await askPDF(operation.key, headers, body: Self.pdfBodies[operation.key])
            #expect(response.status == 500, "\(operation.key): \(response.text)")
        }
    }
}
