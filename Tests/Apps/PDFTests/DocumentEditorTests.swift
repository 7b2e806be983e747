import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Concurrency
@testable import PDF

@Suite struct DocumentEditorTests {
    @Test("Two changes of one document at once: both happen, one after the other")
    func bothHappen() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two", "three")
            let pages = try await app.pages(href)
            app.paper.hold()
            async let first = app.ask(.delete, "\(href)/pages/\(pages[0])")
            await app.paper.isHolding(1)
            async let second = app.ask(.patch, "\(href)/pages/\(pages[2])", json: #"{"rotate_by":90}"#)
            await BoundedWait.poll(for: "a change that waits") {
                app.app.pdf.locks.waiting(for: String(href.suffix(16))) > 0
            }
            #expect(
                try await app.get(href)["data.page_count"] == 3,
                "who reads does not wait, and sees what was before"
            )
            app.paper.release()
            #expect(try await first.status == 200)
            #expect(try await second.all("rotation", in: "data.pages") == [0, 90])
            #expect(try await app.paper(href) == ["jpeg two 0", "jpeg three 90"])
        }
    }

    @Test("Many at once, of one document and of two: nothing is lost, and none of the last pages is deleted twice")
    func many() async throws {
        try await PDFHarness.run { app in
            let (href, other) = (try await app.saved("0", "1", "2", "3", "4"), try await app.saved("5"))
            let pages = try await app.pages(href)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for page in pages {
                    group.addTask { try await app.ask(.delete, "\(href)/pages/\(page)").status }
                }
                for page in pages {
                    group.addTask {
                        try await app.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":180}"#).status
                    }
                }
                for pair in [(href, other), (other, href)] {
                    let body = #"{"first":"\#(pair.0.suffix(16))","second":"\#(pair.1.suffix(16))"}"#
                    group.addTask { try await app.ask(.post, "/v1/pdf/merge", json: body).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 409 }.count == 1, "one page is the last")
            #expect(statuses.allSatisfy { [200, 201, 404, 409].contains($0) })
            #expect(try await app.pages(href).count == 1)
            #expect(try await app.paper(href).count == 1)
            #expect(try await app.listed().count == 4)
            let versions = try app.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM pdf_version") ?? 0 }
            #expect(try versions > 0 && app.blobFiles == 4 + versions)
        }
    }

    @Test("A client that leaves while it waits, or while its job runs, has changed nothing and holds up no other")
    func leaving() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            let pages = try await app.pages(href)
            app.paper.hold()
            let running = Task { try await app.ask(.delete, "\(href)/pages/\(pages[0])").status }
            await app.paper.isHolding(1)
            let waiting = Task { try await app.ask(.delete, "\(href)/pages/\(pages[1])").status }
            await BoundedWait.poll(for: "a change that waits") {
                app.app.pdf.locks.waiting(for: String(href.suffix(16))) > 0
            }
            waiting.cancel()
            _ = await waiting.result
            running.cancel()
            app.paper.release()
            _ = await running.result
            #expect(try await app.pages(href) == pages)
            #expect(try await app.ask(.delete, "\(href)/pages/\(pages[0])").status == 200)
            #expect(try app.blobFiles == 2, "one of them for an undo")
        }
    }
}

@Suite struct DocumentLookupTests {
    /// A change of a document of three pages.
    enum Change: String, CaseIterable, Sendable {
        case rename, save, text, reorder, turn, turnByNothing, deletePage, delete

        func ask(_ app: PDFHarness, _ href: String, _ pages: [String], _ fields: HTTPFields) async throws -> Exchanged {
            switch self {
            case .rename: try await app.ask(.patch, href, fields, json: #"{"name":"Visa"}"#)
            case .save: try await app.ask(.post, "\(href)/save", fields, json: #"{"name":"Visa"}"#)
            case .text: try await app.ask(.post, "\(href)/pages", fields, json: #"{"text":"more"}"#)
            case .reorder:
                try await app.ask(
                    .put,
                    "\(href)/pages/order",
                    fields,
                    json: #"{"pages":["\#(pages[2])","\#(pages[0])","\#(pages[1])"]}"#
                )
            case .turn:
                try await app.ask(.patch, "\(href)/pages/\(pages[1])", fields, json: #"{"rotate_by":90}"#)
            case .turnByNothing:
                try await app.ask(.patch, "\(href)/pages/\(pages[1])", fields, json: #"{"rotate_by":0}"#)
            case .deletePage: try await app.ask(.delete, "\(href)/pages/\(pages[1])", fields)
            case .delete: try await app.ask(.delete, href, fields)
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
            let read = try await app.get(href)
            let tag = try #require(read.headerFields[.eTag])
            let pages = read.strings("id", in: "data.pages")
            // Another client is faster.
            let other = try await app.ask(
                .patch,
                "\(href)/pages/\(pages[0])",
                [.ifMatch: tag],
                json: #"{"rotate_by":90}"#
            )
            #expect(other.status == 200)
            #expect(try version(other) == version(read) + 1)
            let before = try await app.get(href)
            let calls = app.paper.calls
            for stale in [
                tag, "\"1\"", "W/\(try #require(before.headerFields[.eTag]))", "\"\"", "nonsense", "\"a,*,b\"",
            ] {
                try await change.ask(app, href, pages, [.ifMatch: stale]).expectProblem("precondition-failed", 412)
            }
            #expect(try await app.get(href).body == before.body)
            #expect(app.paper.calls == calls)
            let current = try await change.ask(
                app,
                href,
                pages,
                [.ifMatch: "\(tag), \(try #require(other.headerFields[.eTag]))"]
            )
            #expect(current.status < 300, "\(current.text)")
            guard change != .delete else { return try await app.get(href).expectProblem("not-found", 404) }
            // The response to the change has the tag that is read now, so that the next change needs no reading.
            let after = try await app.get(href)
            #expect(current.headerFields[.eTag] == after.headerFields[.eTag])
            #expect(try version(after) == version(before) + (change == .turnByNothing ? 0 : 1))
        }
    }

    @Test("If-Match: * and the version by itself are taken; a document that is not there is 404")
    func forms() async throws {
        try await PDFHarness.run { app in
            let created = try await app.create([PDFHarness.photo("one")])
            let href = try created.string("data.href")
            let read = try await app.get(href, [.acceptEncoding: "gzip"])
            let plain = try await app.get(href)
            #expect(created.headerFields[.eTag] == plain.headerFields[.eTag])
            for (number, tag) in ["*", "\"2\"", "\"9\", \"3\""].enumerated() {
                let response = try await app.ask(.patch, href, [.ifMatch: tag], json: #"{"name":"N\#(number)"}"#)
                #expect(
                    response.status == 200 && response["data.version"] == .number(Double(number + 2)),
                    "\(tag) \(response.text)"
                )
            }
            let gzipped = try #require(read.headerFields[.eTag])
            #expect(gzipped.hasPrefix("\"1.") && gzipped.hasSuffix("-gzip\""))
            try await app.ask(.patch, href, [.ifMatch: gzipped], json: #"{"name":"lost"}"#).expectProblem(
                "precondition-failed",
                412
            )
            try await app.ask(.delete, "/v1/pdf/documents/0123456789abcdef", [.ifMatch: "*"]).expectProblem(
                "not-found",
                404
            )
        }
    }

    @Test("If-Match: of two changes at one version, one is made and the other learns of it")
    func race() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two", "three")
            let read = try await app.get(href)
            let (tag, pages) = (try #require(read.headerFields[.eTag]), read.strings("id", in: "data.pages"))
            app.paper.hold()
            async let first = app.ask(.delete, "\(href)/pages/\(pages[0])", [.ifMatch: tag])
            async let second = app.ask(.delete, "\(href)/pages/\(pages[1])", [.ifMatch: tag])
            await app.paper.isHolding(1)
            app.paper.release()
            #expect(try await [first.status, second.status].sorted() == [200, 412])
            #expect(try await app.pages(href).count == 2)
        }
    }

    private func version(_ response: Exchanged) throws -> Int {
        let version = try #require(response["data.version"]?.number)
        return Int(version)
    }
}

@Suite struct DocumentLookupPreconditionTests {
    @Test("TRUST-05 If-None-Match: a change that names the present version, or any, is 412 and changes nothing")
    func ifNoneMatch() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two")
            let read = try await app.get(href)
            let pages = read.strings("id", in: "data.pages")
            let tag = try #require(read.headerFields[.eTag])
            for condition in ["*", tag, "W/\(tag)", "\"7\", \(tag)"] {
                let fields: HTTPFields = [.ifNoneMatch: condition]
                let changes = [
                    try await app.ask(.patch, href, fields, json: #"{"name":"N"}"#),
                    try await app.ask(.post, "\(href)/save", fields, json: "{}"),
                    try await app.ask(.post, "\(href)/pages", fields, json: #"{"text":"more"}"#),
                    try await app.ask(.post, "\(href)/extract", fields, json: #"{"pages":["\#(pages[0])"]}"#),
                    try await app.ask(.delete, "\(href)/pages/\(pages[0])", fields),
                    try await app.ask(.delete, href, fields),
                ]
                for change in changes { change.expectProblem("precondition-failed", 412) }
            }
            #expect(try await app.get(href).body == read.body)
            let other = try await app.ask(.patch, href, [.ifNoneMatch: "\"1\""], json: #"{"name":"N"}"#)
            #expect(other.status == 200)
        }
    }

    @Test("TRUST-05 what makes a document is compared with the list, the welcome with itself, a merge with nothing")
    func creations() async throws {
        try await PDFHarness.run { app in
            let (first, second) = (try await app.saved("one"), try await app.saved("two"))
            let list = try #require(try await app.get("/v1/pdf/documents").headerFields[.eTag])
            let photo = [PDFHarness.photo("three")]
            #expect(try await app.create(photo, [.ifMatch: list]).status == 201)
            try await app.create(photo, [.ifMatch: "\"99\""]).expectProblem("precondition-failed", 412)
            try await app.create(photo, [.ifNoneMatch: "*"]).expectProblem("precondition-failed", 412)
            let merge = #"{"first":"\#(first.suffix(16))","second":"\#(second.suffix(16))"}"#
            try await app.ask(.post, "/v1/pdf/merge", [.ifMatch: "*"], json: merge)
                .expectProblem("precondition-failed", 412)
            #expect(try await app.ask(.post, "/v1/pdf/merge", [.ifNoneMatch: "*"], json: merge).status == 201)
            let welcome = try #require(try await app.get("/v1/pdf/welcome").headerFields[.eTag])
            let seen = #"{"seen":true}"#
            try await app.ask(.put, "/v1/pdf/welcome", [.ifNoneMatch: "*"], json: seen)
                .expectProblem("precondition-failed", 412)
            #expect(try await app.ask(.put, "/v1/pdf/welcome", [.ifMatch: welcome], json: seen).status == 200)
            try await app.ask(.put, "/v1/pdf/welcome", [.ifMatch: welcome], json: seen)
                .expectProblem("precondition-failed", 412)
        }
    }
}
