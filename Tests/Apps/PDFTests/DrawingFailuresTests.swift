import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import Concurrency
@testable import Media
@testable import PDF

@Suite struct DrawingFailuresTests {
    @Test("TRUST-10 a page that cannot be drawn is not tried again by each request, at whatever width; later it is")
    func remembered() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            app.paper.failDrawing(.timedOut(.pdftoppm))
            for width in [100, 200, 300] {
                try await app.routes.get("\(href)/thumbnail?width=\(width)").expectProblem("timed-out", 422)
            }
            #expect(app.paper.calls.filter { $0 == "picture" }.count == 1)
            app.paper.failDrawing(nil)
            let pages = try await app.pages(href)
            #expect(try await app.routes.get("\(href)/pages/\(pages[1])/thumbnail").status == 200, "another page")
            try await app.routes.get("\(href)/thumbnail").expectProblem("timed-out", 422)
            app.clock.advance(by: .seconds(DrawingFailures.lifetime + 1))
            #expect(try await app.routes.get("\(href)/thumbnail").status == 200)
        }
    }

    @Test("TRUST-10 a page that cannot be drawn is tried once by all who ask for it at once, at whatever width")
    func manyAtOnce() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one")
            let page = try #require(
                try await app.documents.document(String(href.suffix(16)), profile: "local", at: app.clock.now)?.pages
                    .first
            )
            app.paper.failDrawing(.timedOut(.pdftoppm))
            app.paper.hold()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for width in [100, 200, 300] {
                    group.addTask {
                        try await app.routes.get("\(href)/thumbnail?width=\(width)").expectProblem("timed-out", 422)
                    }
                }
                let locks = app.app.thumbnails.locks
                await BoundedWait.poll(for: "three that draw or wait") {
                    pictures(app) + locks.waiting(for: page.content) >= 3
                }
                app.paper.release()
                try await group.waitForAll()
            }
            #expect(pictures(app) == 1)
        }
    }

    private func pictures(_ app: PDFHarness) -> Int { app.paper.calls.count { $0 == "picture" } }

    @Test("TRUST-09 TRUST-10 what the machine has caused is 503, retryable, and not remembered") func machine()
        async throws
    {
        try await PDFHarness.run { app in
            let href = try await app.draft("one")
            app.paper.failDrawing(.unavailable("vips was ended by signal 9"))
            let response = try await app.routes.get("\(href)/thumbnail")
            response.expectProblem("processing-unavailable", 503)
            #expect(response["retryable"] == true && response.headerFields[.retryAfter] == "5")
            #expect(!response.text.contains("signal"))
            app.paper.failDrawing(nil)
            #expect(try await app.routes.get("\(href)/thumbnail").status == 200)
        }
    }
}
