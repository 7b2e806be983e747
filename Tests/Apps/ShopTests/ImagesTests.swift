import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Media
import MediaFormats
import Screens
import TestKit
import Testing
import Upstream

@testable import Shop

@Suite("Pictures of products over HTTP")
struct ImagesTests {
    private func expectPlaceholder(
        _ response: Exchanged,
        _ cacheStatus: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            response.status == 200 && response.headerFields[.contentType] == "image/png",
            sourceLocation: sourceLocation
        )
        #expect(
            response.headerFields[.cacheControl] == "no-store" && response.headerFields[.eTag] == nil,
            sourceLocation: sourceLocation
        )
        #expect(response.cacheStatus == cacheStatus, sourceLocation: sourceLocation)
    }

    @Test("SHOP-11 a picture is fetched once and then comes from the store, offline too, after redirects as well")
    func cached() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/products/22")
            for number in 0...1 {
                let response = try await app.get("/v1/shop/images/22/\(number)")
                #expect(
                    response.status == 200 && response.headerFields[.contentType] == "image/png"
                        && response.cacheStatus == "larder; fwd=uri-miss; stored"
                )
                #expect(response.headerFields[.cacheControl] == "private, no-cache" && response.body.count > 1000)
            }
            app.transport.goAway()
            app.clock.advance(by: .seconds(86_400))
            let stored = try await app.get("/v1/shop/images/22/0")
            #expect(stored.cacheStatus?.hasPrefix("larder; hit") == true && stored.body.count > 1000)
        }
    }

    @Test("HTTP U2 an old picture has no lifetime that its Age has used up; it is revalidated with a 304")
    func age() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/products/22")
            let first = try await app.get("/v1/shop/images/22/0")
            let tag = try #require(first.headerFields[.eTag])
            let requests = app.transport.requests.count
            app.clock.advance(by: .seconds(7200))
            let again = try await app.get("/v1/shop/images/22/0", [.ifNoneMatch: tag])
            #expect(again.status == 304 && again.headerFields[.age] == "7200")
            #expect(again.headerFields[.cacheControl] == "private, no-cache")
            #expect(app.transport.requests.count == requests)
        }
    }

    @Test(
        "SHOP-11 no picture, a dead host, a page, a redirect into the machine: the placeholder, not stored",
        arguments: [
            (39, "larder; detail=placeholder"), (25, "larder; fwd=uri-miss; detail=placeholder"),
            (26, "larder; fwd=uri-miss; fwd-status=404; detail=placeholder"),
            (23, "larder; fwd=uri-miss; fwd-status=200; detail=placeholder"),
            (51, "larder; detail=placeholder"),
            (52, "larder; fwd=uri-miss; detail=placeholder"), (64, "larder; fwd=uri-miss; detail=placeholder"),
        ]
    )
    func placeholder(id: Int, cacheStatus: String) async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/products/\(id)")
            expectPlaceholder(try await app.get("/v1/shop/images/\(id)/0"), cacheStatus)
            // Known by now: nothing is requested, except from the host that redirects to one that is away.
            let isRedirected = id == 52
            let count = app.transport.count
            for _ in 0..<2 {
                expectPlaceholder(
                    try await app.get("/v1/shop/images/\(id)/0"),
                    isRedirected ? cacheStatus : "larder; detail=placeholder"
                )
            }
            #expect(app.transport.count == count + (isRedirected ? 2 : 0))
            #expect(!app.transport.requests.contains { $0.url.contains("127.0.0.1") && $0.url.contains(":9") })
            #expect(try await app.get("/v1/shop/products/\(id)?refresh=1")["meta.offline"] == false)
        }
    }

    @Test(
        "SHOP-11 only URLs of catalogue rows are fetched, and none with credentials, unusual ports or other schemes",
        arguments: [
            "https://user@pictures.test/catalogue/images/a.png", "http://pictures.test:22/catalogue/images/a.png",
            "http://127.0.0.1:9/a.png",
            "http://[::1]:8080/a.png", "https://pictures.test:8443/catalogue/images/a.png",
        ]
    )
    func refused(url: String) async throws {
        try await ShopHarness.run { (app) async throws in
            try app.control(.put, "products/1", #"{"images":["\#(url)"]}"#)
            _ = try await app.get("/v1/shop/products/1")
            let count = app.transport.requests.count
            expectPlaceholder(try await app.get("/v1/shop/images/1/0"), "larder; detail=placeholder")
            #expect(app.transport.requests.count == count)
        }
    }

    @Test("SHOP-11 a product that was not seen is read before its picture; if the upstream fails, that is the problem")
    func unseen() async throws {
        try await ShopHarness.run { (app) async throws in
            let picture = try await app.get("/v1/shop/images/1/0")
            #expect(
                picture.status == 200 && picture.cacheStatus == "larder; fwd=uri-miss; stored"
                    && picture.body.count > 1000
            )
            try await app.get("/v1/shop/images/3333/0").expectProblem("not-found", 404)
            #expect(app.asked == ["/products/1", "/products/3333"])
            app.transport.goAway()
            try await app.get("/v1/shop/images/2/0").expectProblem("upstream-unavailable", 503)
            #expect(try await app.get("/v1/shop/images/1/0").body == picture.body)
        }
    }

    @Test("SHOP-11 a damaged picture is not stored, and the placeholder is shown in its place")
    func damaged() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/products/1")
            let whole = try await app.get("/v1/shop/images/1/0").body
            app.transport.always { (_) throws(UpstreamError) in
                IncomingResponse(status: .ok, headerFields: [.contentType: "image/png"], body: Array(whole.prefix(33)))
            }
            for _ in 0..<2 {
                let cut = try await app.get("/v1/shop/images/1/1")
                expectPlaceholder(cut, "larder; fwd=uri-miss; fwd-status=200; detail=placeholder")
            }
            app.respondAgain()
            #expect(try await app.get("/v1/shop/images/1/1").cacheStatus == "larder; fwd=uri-miss; stored")
        }
    }

    @Test("ONE-12 ten pictures of a hanging host hold up neither the list of their page nor, from then on, each other")
    func hanging() async throws {
        try await ShopHarness.run { (app) async throws in
            for id in 1...10 { _ = try await app.add(id) }
            let asked = app.transport.count
            app.transport.hold()
            @Sendable func view() async throws -> [Exchanged] {
                try await (1...10).concurrentMap { id in try await app.get("/v1/shop/images/\(id)/0") }
            }
            async let first = view()
            await app.transport.requests(asked + 10)
            #expect(try await app.get("/v1/shop/list").listed == Array(1...10))
            await app.clock.sleepers(10, of: .seconds(3))
            app.clock.advance(by: .seconds(3))
            for picture in try await first { expectPlaceholder(picture, "larder; fwd=uri-miss; detail=placeholder") }
            for picture in try await view() { expectPlaceholder(picture, "larder; detail=placeholder") }
            #expect(app.transport.count == asked + 10)
            app.transport.release()
            app.respondAgain()
        }
    }

    @Test("ONE-12 a refresh asks for a missing picture again, a view a minute later as well")
    func asksAgain() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/products/26")
            let sent = "larder; fwd=uri-miss; fwd-status=404; detail=placeholder"
            expectPlaceholder(try await app.get("/v1/shop/images/26/0"), sent)
            app.clock.advance(by: .seconds(59))
            expectPlaceholder(try await app.get("/v1/shop/images/26/0"), "larder; detail=placeholder")
            expectPlaceholder(try await app.get("/v1/shop/images/26/0?refresh=1"), sent)
            app.clock.advance(by: .seconds(60))
            expectPlaceholder(try await app.get("/v1/shop/images/26/0"), sent)
        }
    }

    @Test("a picture of an impossible product or number is 404, and the upstream is not requested")
    func unknown() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/products/1")
            let count = app.transport.requests.count
            for path in ["1/3", "1/x", "1/-1", "0/0", "x/0", "1/99999999999999999999", "99999999999999999999/0"] {
                try await app.get("/v1/shop/images/\(path)").expectProblem("not-found", 404)
            }
            try await app.get("/v1/shop/images/1/0", as: nil, [.cacheControl: "only-if-cached"]).expectProblem(
                "not-in-cache",
                504
            )
            #expect(app.transport.requests.count == count)
        }
    }

    @Test("a picture is scaled down to the requested width, never up; without the program a problem names its package")
    func scaled() async throws {
        let tools = MediaTools.find(
            searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "",
            executable: CommandLine.arguments[0]
        )
        try await ShopHarness.run(tools: tools) { (app) async throws in
            _ = try await app.get("/v1/shop/products/1")
            for (width, expected) in [(100, 100), (400, 400), (2000, 400)] {
                let response = try await app.get("/v1/shop/images/1/0?width=\(width)")
                #expect(response.status == 200 && response.headerFields[.cacheControl] == "private, no-cache")
                #expect(try PictureHeader(of: Array(response.body)).width == expected)
            }
            #expect(app.transport.requests.filter { $0.url.contains("pictures.test") }.count == 1)
            for width in ["0", "-1", "2001", "x"] {
                try await app.get("/v1/shop/images/1/0?width=\(width)").expectProblem("invalid-parameter", 400)
            }
        }
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/products/1")
            let missing = try await app.get("/v1/shop/images/1/0?width=100")
            missing.expectProblem("tool-missing", 501)
            #expect(missing.text.contains("util-linux") || missing.text.contains("libvips-tools"))
            #expect(try await app.get("/v1/shop/images/1/0").status == 200)
        }
    }
}
