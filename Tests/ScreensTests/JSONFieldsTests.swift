import Foundation
import HTTP
import HTTPTypes
import JSONValues
import TestKit
import Testing

@testable import Screens

struct JSONFieldsTests {
    private func fields(_ text: String) throws -> JSONFields { try JSONFields(Data(text.utf8)) }

    @Test("Values keep their kinds")
    func kinds() throws {
        let values = try fields(#"{"n":null,"t":true,"i":1,"z":0,"d":1.5,"s":"ä\"","a":[1,"x",null],"o":{"k":[]}}"#)
            .values
        #expect(
            values["n"] == .null && values["t"] == true && values["i"] == 1 && values["z"] == 0
                && values["d"]?.double == 1.5
        )
        #expect(values["s"] == "ä\"")
        #expect(values["a"] == [1, "x", .null])
        #expect(values["o"] == ["k": []])
    }

    @Test(
        "What is not a JSON object is malformed-json",
        arguments: [
            "", " ", "{", "{]", "[]", "1", "\"x\"", "null", "true", "{a:1}", "{\"a\":1}x", "{\"a\":NaN}",
            "{\"a\":1e999}", "{'a':1}", "\u{0}",
        ]
    )
    func malformed(text: String) {
        #expect(throws: Problem.self) { try fields(text) }
        #expect((try? fields(text)) == nil)
    }

    @Test("Bytes that are not UTF-8 are malformed-json")
    func notUTF8() {
        let problem = #expect(throws: Problem.self) {
            try JSONFields(Data([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]))
        }
        #expect(problem?.code == .malformedJSON)
    }

    @Test("Nesting as deep as a body may be is refused, not followed to the end of the stack")
    func deep() {
        let deep = String(repeating: "[", count: 32_000)
        #expect(throws: Problem.self) { try fields("{\"a\":\(deep)") }
        #expect(throws: Problem.self) { try fields("{\"a\":" + deep + String(repeating: "]", count: 32_000) + "}") }
    }

    @Test("Text fields: null counts as absent, another kind names the field")
    func strings() throws {
        let fields = try fields(#"{"s":"x","n":null,"i":1,"l":["a","b"],"m":["a",1]}"#)
        #expect(try fields.string("s") == "x" && fields.string("n") == nil && fields.string("missing") == nil)
        let problem = #expect(throws: Problem.self) { try fields.string("i") }
        #expect(problem?.code == .validationFailed && problem?.errors.first?.pointer == "/i")
        #expect(
            try fields.strings("l") == ["a", "b"] && fields.strings("n") == nil && fields.strings("missing") == nil
        )
        #expect(#expect(throws: Problem.self) { try fields.strings("m") }?.errors.first?.pointer == "/m/1")
        #expect(#expect(throws: Problem.self) { try fields.strings("s") }?.errors.first?.pointer == "/s")
    }
}

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
