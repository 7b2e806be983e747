import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import PDF

@Suite struct DocumentLookupPreconditionTests {
    @Test("TRUST-05 If-None-Match: a change that names the present version, or any, is 412 and changes nothing")
    func ifNoneMatch() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two")
            let read = try await app.routes.get(href)
            let pages = read.strings("id", in: "data.pages")
            let tag = try #require(read.headerFields[.eTag])
            for condition in ["*", tag, "W/\(tag)", "\"7\", \(tag)"] {
                let fields: HTTPFields = [.ifNoneMatch: condition]
                let changes = [
                    try await app.routes.ask(.patch, href, fields, json: #"{"name":"N"}"#),
                    try await app.routes.ask(.post, "\(href)/save", fields, json: "{}"),
                    try await app.routes.ask(.post, "\(href)/pages", fields, json: #"{"text":"more"}"#),
                    try await app.routes.ask(.post, "\(href)/extract", fields, json: #"{"pages":["\#(pages[0])"]}"#),
                    try await app.routes.ask(.delete, "\(href)/pages/\(pages[0])", fields),
                    try await app.routes.ask(.delete, href, fields),
                ]
                for change in changes { change.expectProblem("precondition-failed", 412) }
            }
            #expect(try await app.routes.get(href).body == read.body)
            let other = try await app.routes.ask(.patch, href, [.ifNoneMatch: "\"1\""], json: #"{"name":"N"}"#)
            #expect(other.status == 200)
        }
    }

    @Test("TRUST-05 what makes a document is compared with the list, the welcome with itself, a merge with nothing")
    func creations() async throws {
        try await PDFHarness.run { app in
            let (first, second) = (try await app.saved("one"), try await app.saved("two"))
            let list = try #require(try await app.routes.get("/v1/pdf/documents").headerFields[.eTag])
            let photo = [PDFHarness.photo("three")]
            #expect(try await app.create(photo, [.ifMatch: list]).status == 201)
            try await app.create(photo, [.ifMatch: "\"99\""]).expectProblem("precondition-failed", 412)
            try await app.create(photo, [.ifNoneMatch: "*"]).expectProblem("precondition-failed", 412)
            let merge = #"{"first":"\#(first.suffix(16))","second":"\#(second.suffix(16))"}"#
            try await app.routes.ask(.post, "/v1/pdf/merge", [.ifMatch: "*"], json: merge)
                .expectProblem("precondition-failed", 412)
            #expect(try await app.routes.ask(.post, "/v1/pdf/merge", [.ifNoneMatch: "*"], json: merge).status == 201)
            let welcome = try #require(try await app.routes.get("/v1/pdf/welcome").headerFields[.eTag])
            let seen = #"{"seen":true}"#
            try await app.routes.ask(.put, "/v1/pdf/welcome", [.ifNoneMatch: "*"], json: seen)
                .expectProblem("precondition-failed", 412)
            #expect(try await app.routes.ask(.put, "/v1/pdf/welcome", [.ifMatch: welcome], json: seen).status == 200)
            try await app.routes.ask(.put, "/v1/pdf/welcome", [.ifMatch: welcome], json: seen)
                .expectProblem("precondition-failed", 412)
        }
    }
}
