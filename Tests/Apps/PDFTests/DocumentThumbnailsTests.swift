import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Concurrency
@testable import Media
@testable import PDF

@Suite struct DocumentThumbnailsTests {
    private func drawn(_ app: PDFHarness) -> Int { app.paper.calls.filter { $0 == "picture" }.count }

    @Test("PDF-05 every page has a picture, drawn once for each width; the document's is that of its first page")
    func pictures() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            let pages = try await app.pages(href)
            let picture = try await app.get("\(href)/pages/\(pages[1])/thumbnail")
            #expect(picture.status == 200 && picture.text == "jpeg two 0 at 320")
            #expect(picture.headerFields[.contentType] == "image/jpeg")
            #expect(
                picture.headerFields[.cacheControl] == "private, no-cache"
                    && picture.headerFields[.vary] == "Authorization, Cookie, Larder-Profile"
            )
            #expect(picture.headerFields[.eTag] != nil && picture.headerFields[.contentTypeOptions] == "nosniff")
            #expect(try await app.get("\(href)/pages/\(pages[1])/thumbnail?width=2000").text == "jpeg two 0 at 2000")
            #expect(try await app.get("\(href)/thumbnail?width=64").text == "jpeg one 0 at 64")
            #expect(drawn(app) == 3)
            #expect(try await app.get("\(href)/pages/\(pages[1])/thumbnail").body == picture.body)
            let tag = try #require(picture.headerFields[.eTag])
            #expect(try await app.get("\(href)/pages/\(pages[1])/thumbnail", [.ifNoneMatch: tag]).status == 304)
            #expect(drawn(app) == 3)
            for query in ["?width=0", "?width=2001", "?width=x", "?width=-5"] {
                try await app.get("\(href)/thumbnail\(query)").expectProblem("invalid-parameter", 400)
            }
        }
    }

    @Test("PDF-05 thumbnails are cached by page content: changes of other pages, merges and moves reuse them")
    func byContent() async throws {
        try await PDFHarness.run { app in
            let (href, other) = (try await app.saved("one", "two"), try await app.saved("three"))
            let pages = try await app.pages(href)
            for page in pages { _ = try await app.get("\(href)/pages/\(page)/thumbnail") }
            _ = try await app.get("\(other)/thumbnail")
            #expect(drawn(app) == 3)
            let merged = try await app.ask(
                .post,
                "/v1/pdf/merge",
                json: #"{"first":"\#(other.suffix(16))","second":"\#(href.suffix(16))"}"#
            )
            let texts = try await merged.strings("thumbnail_url", in: "data.pages").asyncMap {
                try await app.get($0).text
            }
            #expect(texts == ["jpeg three 0 at 320", "jpeg one 0 at 320", "jpeg two 0 at 320"])
            _ = try await app.ask(.delete, "\(href)/pages/\(pages[0])")
            #expect(try await app.get("\(href)/thumbnail").text == "jpeg two 0 at 320")
            #expect(drawn(app) == 3)
            _ = try await app.ask(.patch, "\(href)/pages/\(pages[1])", json: #"{"rotate_by":90}"#)
            #expect(try await app.get("\(href)/thumbnail").text == "jpeg two 90 at 320")
            #expect(drawn(app) == 4)
        }
    }

    @Test("PDF-05 a picture that many ask for at once is drawn once")
    func manyAtOnce() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one")
            let page = try firstPage(of: href, app)
            app.paper.hold()
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 1...5 { group.addTask { try await app.get("\(href)/thumbnail?width=50").text } }
                await BoundedWait.poll(for: "four that wait for one picture") {
                    app.app.thumbnails.locks.waiting(for: page.content) >= 4
                }
                app.paper.release()
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(texts == ["jpeg one 0 at 50"])
            #expect(drawn(app) == 1)
        }
    }

    @Test("Pictures that were used least recently go where all together are over the budget")
    func budget() async throws {
        try await PDFHarness.run(settings: .standard.with(PDFApp.thumbnailBytes, 40)) { app in
            let href = try await app.draft("one", "two", "six")
            let pages = try await app.pages(href)
            for page in pages {
                _ = try await app.get("\(href)/pages/\(page)/thumbnail")
                app.clock.advance(by: .seconds(3700))
            }
            #expect(drawn(app) == 3)
            _ = try await app.get("\(href)/pages/\(pages[2])/thumbnail")
            _ = try await app.get("\(href)/pages/\(pages[1])/thumbnail")
            #expect(drawn(app) == 3)
            app.clock.advance(by: .seconds(3700))
            _ = try await app.get("\(href)/pages/\(pages[2])/thumbnail")
            _ = try await app.get("\(href)/pages/\(pages[0])/thumbnail")
            #expect(drawn(app) == 4, "the first had gone")
            _ = try await app.get("\(href)/pages/\(pages[2])/thumbnail")
            #expect(drawn(app) == 4, "used a moment ago")
            _ = try await app.get("\(href)/pages/\(pages[1])/thumbnail")
            #expect(drawn(app) == 5)
        }
    }

    @Test("A page that changes while it is drawn is drawn anew; one that is deleted meanwhile leaves no picture")
    func changedMeanwhile() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            let pages = try await app.pages(href)
            app.paper.hold()
            async let picture = app.get("\(href)/pages/\(pages[1])/thumbnail")
            await app.paper.isHolding(1)
            async let change = app.ask(.patch, "\(href)/pages/\(pages[1])", json: #"{"rotate_by":90}"#)
            await app.paper.isHolding(2)
            app.paper.release()
            _ = try await change
            let text = try await picture.text
            #expect(["jpeg two 0 at 320", "jpeg two 90 at 320"].contains(text))
            #expect(try await app.get("\(href)/pages/\(pages[1])/thumbnail").text == "jpeg two 90 at 320")
            app.paper.hold()
            async let late = app.get("\(href)/pages/\(pages[0])/thumbnail")
            await app.paper.isHolding(1)
            _ = try await app.ask(.delete, "\(href)?permanently=true")
            app.paper.release()
            try await late.expectProblem("not-found", 404)
            #expect(try app.database.integer("SELECT count(*) FROM pdf_thumbnail") == 0)
        }
    }
}

@Suite struct DrawingFailuresTests {
    @Test("TRUST-10 a page that cannot be drawn is not tried again by each request, at whatever width; later it is")
    func remembered() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            app.paper.failDrawing(.timedOut(.pdftoppm))
            for width in [100, 200, 300] {
                try await app.get("\(href)/thumbnail?width=\(width)").expectProblem("timed-out", 422)
            }
            #expect(app.paper.calls.filter { $0 == "picture" }.count == 1)
            app.paper.failDrawing(nil)
            let pages = try await app.pages(href)
            #expect(try await app.get("\(href)/pages/\(pages[1])/thumbnail").status == 200, "another page")
            try await app.get("\(href)/thumbnail").expectProblem("timed-out", 422)
            app.clock.advance(by: .seconds(DrawingFailures.lifetime + 1))
            #expect(try await app.get("\(href)/thumbnail").status == 200)
        }
    }

    @Test("TRUST-10 a page that cannot be drawn is tried once by all who ask for it at once, at whatever width")
    func manyAtOnce() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one")
            let page = try firstPage(of: href, app)
            app.paper.failDrawing(.timedOut(.pdftoppm))
            app.paper.hold()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for width in [100, 200, 300] {
                    group.addTask {
                        try await app.get("\(href)/thumbnail?width=\(width)").expectProblem("timed-out", 422)
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
            let response = try await app.get("\(href)/thumbnail")
            response.expectProblem("processing-unavailable", 503)
            #expect(response["retryable"] == true && response.headerFields[.retryAfter] == "5")
            #expect(!response.text.contains("signal"))
            app.paper.failDrawing(nil)
            #expect(try await app.get("\(href)/thumbnail").status == 200)
        }
    }
}

/// Returns the first page of a document as it is stored.
private func firstPage(of href: String, _ app: PDFHarness) throws -> DocumentPage {
    try #require(app.documents.document(String(href.suffix(16)), profile: "local", at: app.clock.now)?.pages.first)
}
