import Foundation
import HTTPTypes
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
            async let first = app.routes.ask(.delete, "\(href)/pages/\(pages[0])")
            await app.paper.isHolding(1)
            async let second = app.routes.ask(.patch, "\(href)/pages/\(pages[2])", json: #"{"rotate_by":90}"#)
            await BoundedWait.poll(for: "a change that waits") {
                app.app.locks.waiting(for: String(href.suffix(16))) > 0
            }
            #expect(
                try await app.routes.get(href)["data.page_count"] == 3,
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
                    group.addTask { try await app.routes.ask(.delete, "\(href)/pages/\(page)").status }
                }
                for page in pages {
                    group.addTask {
                        try await app.routes.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":180}"#).status
                    }
                }
                for pair in [(href, other), (other, href)] {
                    let body = #"{"first":"\#(pair.0.suffix(16))","second":"\#(pair.1.suffix(16))"}"#
                    group.addTask { try await app.routes.ask(.post, "/v1/pdf/merge", json: body).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 409 }.count == 1, "one page is the last")
            #expect(statuses.allSatisfy { [200, 201, 404, 409].contains($0) })
            #expect(try await app.pages(href).count == 1)
            #expect(try await app.paper(href).count == 1)
            #expect(try await app.listed().count == 4)
            #expect(try app.blobFiles == 4)
        }
    }

    @Test("A client that leaves while it waits, or while its job runs, has changed nothing and holds up no other")
    func leaving() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            let pages = try await app.pages(href)
            app.paper.hold()
            let running = Task { try await app.routes.ask(.delete, "\(href)/pages/\(pages[0])").status }
            await app.paper.isHolding(1)
            let waiting = Task { try await app.routes.ask(.delete, "\(href)/pages/\(pages[1])").status }
            await BoundedWait.poll(for: "a change that waits") {
                app.app.locks.waiting(for: String(href.suffix(16))) > 0
            }
            waiting.cancel()
            _ = await waiting.result
            running.cancel()
            app.paper.release()
            _ = await running.result
            #expect(try await app.pages(href) == pages)
            #expect(try await app.routes.ask(.delete, "\(href)/pages/\(pages[0])").status == 200)
            #expect(try app.blobFiles == 1)
        }
    }
}
