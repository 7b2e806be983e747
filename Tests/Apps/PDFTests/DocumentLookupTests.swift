import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import PDF

@Suite struct DocumentLookupTests {
    /// A change of a document of three pages.
    enum Change: String, CaseIterable, Sendable {
        case rename, save, text, reorder, turn, turnByNothing, deletePage, delete

        func ask(_ app: PDFHarness, _ href: String, _ pages: [String], _ fields: HTTPFields) async throws -> Exchanged {
            switch self {
            case .rename: try await app.routes.ask(.patch, href, fields, json: #"{"name":"Visa"}"#)
            case .save: try await app.routes.ask(.post, "\(href)/save", fields, json: #"{"name":"Visa"}"#)
            case .text: try await app.routes.ask(.post, "\(href)/pages", fields, json: #"{"text":"more"}"#)
            case .reorder:
                try await app.routes.ask(
                    .put,
                    "\(href)/pages/order",
                    fields,
                    json: #"{"pages":["\#(pages[2])","\#(pages[0])","\#(pages[1])"]}"#
                )
            case .turn:
                try await app.routes.ask(.patch, "\(href)/pages/\(pages[1])", fields, json: #"{"rotate_by":90}"#)
            case .turnByNothing:
                try await app.routes.ask(.patch, "\(href)/pages/\(pages[1])", fields, json: #"{"rotate_by":0}"#)
            case .deletePage: try await app.routes.ask(.delete, "\(href)/pages/\(pages[1])", fields)
            case .delete: try await app.routes.ask(.delete, href, fields)
            }
        }
    }

    @Test(
        "If-Match: a change is made only at a version that it names, else it is 412 and nothing has changed",
        arguments: Change.allCases
    )
    func lostRace(change: Change) async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two", "three")
            let read = try await app.routes.get(href)
            let tag = try #require(read.headerFields[.eTag])
            let pages = read.strings("id", in: "data.pages")
            // Another client is faster.
            let other = try await app.routes.ask(
                .patch,
                "\(href)/pages/\(pages[0])",
                [.ifMatch: tag],
                json: #"{"rotate_by":90}"#
            )
            #expect(other.status == 200)
            #expect(try version(other) == version(read) + 1)
            let before = try await app.routes.get(href)
            let calls = app.paper.calls
            for stale in [
                tag, "\"1\"", "W/\(try #require(before.headerFields[.eTag]))", "\"\"", "nonsense", "\"a,*,b\"",
            ] {
                try await change.ask(app, href, pages, [.ifMatch: stale]).expectProblem("precondition-failed", 412)
            }
            #expect(try await app.routes.get(href).body == before.body)
            #expect(app.paper.calls == calls)
            let current = try await change.ask(
                app,
                href,
                pages,
                [.ifMatch: "\(tag), \(try #require(other.headerFields[.eTag]))"]
            )
            #expect(current.status < 300, "\(current.text)")
            guard change != .delete else { return try await app.routes.get(href).expectProblem("not-found", 404) }
            // The response to the change has the tag that is read now, so that the next change needs no reading.
            let after = try await app.routes.get(href)
            #expect(current.headerFields[.eTag] == after.headerFields[.eTag])
            #expect(try version(after) == version(before) + (change == .turnByNothing ? 0 : 1))
        }
    }

    @Test("If-Match: * and the version by itself are taken; a document that is not there is 404")
    func forms() async throws {
        try await PDFHarness.run { app in
            let created = try await app.create([PDFHarness.photo("one")])
            let href = try created.string("data.href")
            let read = try await app.routes.get(href, [.acceptEncoding: "gzip"])
            let plain = try await app.routes.get(href)
            #expect(created.headerFields[.eTag] == plain.headerFields[.eTag])
            for (number, tag) in ["*", "\"2\"", "\"9\", \"3\""].enumerated() {
                let response = try await app.routes.ask(.patch, href, [.ifMatch: tag], json: #"{"name":"N\#(number)"}"#)
                #expect(
                    response.status == 200 && response["data.version"] == .number(Double(number + 2)),
                    "\(tag) \(response.text)"
                )
            }
            let gzipped = try #require(read.headerFields[.eTag])
            #expect(gzipped.hasPrefix("\"1.") && gzipped.hasSuffix("-gzip\""))
            try await app.routes.ask(.patch, href, [.ifMatch: gzipped], json: #"{"name":"lost"}"#).expectProblem(
                "precondition-failed",
                412
            )
            try await app.routes.ask(.delete, "/v1/pdf/documents/0123456789abcdef", [.ifMatch: "*"]).expectProblem(
                "not-found",
                404
            )
        }
    }

    @Test("If-Match: of two changes at one version, one is made and the other learns of it")
    func race() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two", "three")
            let read = try await app.routes.get(href)
            let (tag, pages) = (try #require(read.headerFields[.eTag]), read.strings("id", in: "data.pages"))
            app.paper.hold()
            async let first = app.routes.ask(.delete, "\(href)/pages/\(pages[0])", [.ifMatch: tag])
            async let second = app.routes.ask(.delete, "\(href)/pages/\(pages[1])", [.ifMatch: tag])
            await app.paper.isHolding(1)
            app.paper.release()
            #expect(try await [first.status, second.status].sorted() == [200, 412])
            #expect(try await app.pages(href).count == 2)
        }
    }

    private func version(_ response: Exchanged) throws -> Int {
        guard case .number(let version) = response["data.version"] else {
            throw Exchanged.NoText(path: "data.version", response: response.text)
        }
        return Int(version)
    }
}
