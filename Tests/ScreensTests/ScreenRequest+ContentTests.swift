import HTTPSemantics
import HTTPTypes
import TestKit
import Testing

@testable import Screens

/// How JSON has to be declared, which depends on who sends it.
struct JSONContentTests {
    private let notes = Route(.post, "/notes", "notes.details") { request in
        let isEmpty = try await request.optionalJSONObject() == nil
        return plain(isEmpty ? "{}" : #"{"read":true}"#)
    }
    .body("body")

    private static let site = HTTPField.Name(literal: "Sec-Fetch-Site")

    private func respond(_ fields: HTTPFields, body: String = #"{"body":"x"}"#) async throws -> ScreenHarness.Served {
        var fields = fields
        fields[.contentLength] = String(body.utf8.count)
        return try await ScreenHarness([notes], origins: ["https://notes.example"])
            .serve(.post, "/notes", fields, body: body)
    }

    @Test("HARN-29 A program sends JSON as JSON, without a type, or as curl -d does")
    func programs() async throws {
        for type in ["application/json", "application/json; charset=utf-8", "application/merge-patch+json"] {
            #expect(try await respond([.contentType: type]).text.contains("read"), "\(type)")
        }
        #expect(try await respond([:]).text.contains("read"))
        #expect(try await respond([.contentType: "application/x-www-form-urlencoded"]).text.contains("read"))
    }

    @Test(
        "SRV-11 What a page of any origin may send without asking is not taken as JSON, though its origin may write",
        arguments: [nil, "text/plain;charset=UTF-8", "application/x-www-form-urlencoded"]
    )
    func pages(type: String?) async throws {
        for page: HTTPFields in [[.origin: "https://notes.example"], [Self.site: "same-origin"]] {
            var fields = page
            fields[.contentType] = type
            let response = try await respond(fields)
            #expect(response.status == .unsupportedMediaType && response.text.contains("Content-Type: application"))
            fields[.contentType] = "application/json"
            #expect(try await respond(fields).text.contains("read"))
        }
    }

    @Test("HARN-29 fetch without a type is 415 that says how to send it; no content at all needs no type")
    func plainText() async throws {
        let response = try await respond([.contentType: "text/plain;charset=UTF-8"])
        #expect(response.status == .unsupportedMediaType)
        #expect(
            try response.json()["detail"]
                == .string(
                    "text/plain is not accepted here; accepted: application/json. JSON is sent with the header field "
                        + "Content-Type: application/json."
                )
        )
        #expect(try await respond([.origin: "https://notes.example"], body: "").text == "{}")
    }

    @Test("SRV-06 A compressed body is 415 that names what is accepted")
    func compressed() async throws {
        let response = try await respond([.contentType: "application/json", .contentEncoding: "gzip"])
        #expect(response.status == .unsupportedMediaType && response.fields[.acceptEncoding] == "identity")
    }
}
