import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import PDF

@Suite struct DocumentWelcomeTests {
    @Test("PDF-01 the welcome describes the functions, and remembers that it was seen, each profile for itself")
    func seen() async throws {
        try await PDFHarness.run { app in
            let first = try await app.get("/v1/pdf/welcome")
            first.expectPDF("pdf.welcome")
            #expect(first["data.seen"] == false)
            #expect(first.strings("id", in: "data.features") == ["create", "read", "edit", "keep"])
            #expect(first.all("text", in: "data.features").count == 4)
            let noted = try await app.ask(.put, "/v1/pdf/welcome", json: #"{"seen":true}"#)
            noted.expectPDF("pdf.welcome")
            #expect(noted["data.seen"] == true)
            #expect(try await app.get("/v1/pdf/welcome")["data.seen"] == true)
            #expect(try await app.get("/v1/pdf/welcome", [.larderProfile: "other"])["data.seen"] == false)
            _ = try await app.ask(.put, "/v1/pdf/welcome", json: #"{"seen":false}"#)
            #expect(try await app.get("/v1/pdf/welcome")["data.seen"] == false)
        }
    }

    @Test("PDF-01 a cold start shows the welcome until it was seen, then the saved documents")
    func launch() async throws {
        try await PDFHarness.run { app in
            let first = try await app.get("/v1/pdf/launch")
            first.expectPDF("pdf.launch")
            #expect(first["data.route.screen"] == "pdf.welcome" && first["data.route.href"] == "/v1/pdf/welcome")
            _ = try await app.ask(.put, "/v1/pdf/welcome", json: #"{"seen":true}"#)
            let second = try await app.get("/v1/pdf/launch")
            #expect(second["data.route.screen"] == "pdf.list" && second["data.route.href"] == "/v1/pdf/documents")
            let other = try await app.get("/v1/pdf/launch", [.larderProfile: "other"])
            #expect(other["data.route.screen"] == "pdf.welcome")
        }
    }

    @Test("PDF-01 seen is true or false", arguments: [#"{}"#, #"{"seen":null}"#, #"{"seen":"yes"}"#, #"{"seen":1}"#])
    func wrong(body: String) async throws {
        try await PDFHarness.run { app in
            let response = try await app.ask(.put, "/v1/pdf/welcome", json: body)
            response.expectProblem("validation-failed", 422)
            #expect(response["errors.0.pointer"] == "/seen")
            #expect(try await app.get("/v1/pdf/welcome")["data.seen"] == false)
        }
    }

    @Test("PDF-01 PDF-13 the seen flag survives a restart")
    func restart() async throws {
        let directory = try DataDirectory.temporary()
        try await PDFHarness.run(directory: directory) {
            _ = try await $0.ask(.put, "/v1/pdf/welcome", json: #"{"seen":true}"#)
        }
        try await PDFHarness.run(directory: directory) { app in
            let welcome = try await app.get("/v1/pdf/welcome")
            #expect(welcome["data.seen"] == true)
        }
    }

    @Test("A profile that is no name is refused on every route, before anything is done")
    func profiles() async throws {
        try await PDFHarness.run { app in
            for route in app.app.routes {
                let path = route.path.replacing("{id}", with: "0123456789abcdef").replacing(
                    "{page_id}",
                    with: "0123456789abcdef"
                )
                let response = try await app.ask(
                    route.method,
                    path,
                    [.larderProfile: "a b"],
                    json: route.method == .get ? "" : #"{"pages":["a"],"rotate_by":0}"#
                )
                response.expectProblem("invalid-parameter", 400)
            }
        }
    }
}
