import Concurrency
import Foundation
import GRDB
import HTTP
import HTTPTypes
import Media
import MediaFormats
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Ships

@Suite("Pictures over HTTP")
struct ImagesTests {
    private static let url = "https://pictures.test/bob.png"

    /// The app with the list fetched, and a token.
    private func run(
        _ records: [String] = ShipFixtures.fleet,
        _ test: @Sendable (ShipsHarness, String) async throws -> Void
    )
        async throws
    {
        try await ShipsHarness.run(ScriptedSpaceX(.ships(records))) { app, token in
            _ = try await app.get("/v1/ships", as: token)
            try await test(app, token)
        }
    }

    private func expectPlaceholder(
        _ response: Exchanged,
        _ cacheStatus: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(response.status == 200, sourceLocation: sourceLocation)
        #expect(response.headerFields[.contentType] == "image/png", sourceLocation: sourceLocation)
        #expect(response.headerFields[.cacheControl] == "no-store", sourceLocation: sourceLocation)
        #expect(response.cacheStatus == cacheStatus, sourceLocation: sourceLocation)
        #expect(
            Array(response.body.prefix(8)) == Array(TestPicture.greyPixel.prefix(8)),
            sourceLocation: sourceLocation
        )
        #expect(response.body.count > 12, sourceLocation: sourceLocation)
    }

    /// A black PNG of 400 by 100 pixels.
    private static let wide = Data(
        base64Encoded: """
            iVBORw0KGgoAAAANSUhEUgAAAZAAAABkCAAAAACNoDmrAAAAPklEQVR42u3BMQEAAADCoPVPbQsvoAAAAAAAAAAAAA\
            AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgKcBnKQAAdh7HF4AAAAASUVORK5CYII=
            """
    )

    @Test("SHIP-16 a picture is scaled down to the width that is asked for, never up; without the program: a problem")
    func scaled() async throws {
        let tools = MediaTools.find(
            searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "",
            executable: CommandLine.arguments[0]
        )
        let spaceX = ScriptedSpaceX()
        spaceX.showPicture(Array(try #require(Self.wide)), at: Self.url)
        try await ShipsHarness.run(spaceX, tools: tools) { app in
            let token = try await app.logIn()
            _ = try await app.get("/v1/ships", as: token)
            for (width, expected) in [(100, 100), (400, 400), (2000, 400)] {
                let response = try await app.get("/v1/ships/b0b/image?width=\(width)", as: token)
                #expect(response.status == 200)
                #expect(try PictureHeader(of: Array(response.body)).width == expected)
            }
            #expect(app.spaceX.requests.count == 2)
            for width in ["0", "2001", "x"] {
                let response = try await app.get("/v1/ships/b0b/image?width=\(width)", as: token)
                response.expectProblem("invalid-parameter", 400)
            }
        }
        try await ShipsHarness.run(spaceX) { app, token in
            _ = try await app.get("/v1/ships", as: token)
            try await app.get("/v1/ships/b0b/image?width=100", as: token).expectProblem("tool-missing", 501)
            #expect(try await app.get("/v1/ships/b0b/image", as: token).status == 200)
        }
    }

    @Test("SHIP-04 a picture is fetched once and then comes from the database, offline too")
    func proxied() async throws {
        try await run { app, token in
            app.spaceX.showPicture(TestPicture.greyPixel, at: Self.url)
            let first = try await app.get("/v1/ships/b0b/image", as: token)
            #expect(first.status == 200)
            #expect(Array(first.body) == TestPicture.greyPixel)
            #expect(first.headerFields[.contentType] == "image/png")
            #expect(first.headerFields[.cacheControl] == "private, no-cache")
            #expect(first.headerFields[.contentTypeOptions] == "nosniff")
            #expect(first.cacheStatus == "larder; fwd=uri-miss; stored")
            app.spaceX.become(.unreachable(.refused))
            app.clock.advance(by: .seconds(86_400))
            _ = try await app.get("/v1/ships?refresh=1", as: token)
            let asked = app.spaceX.requests.count
            let stored = try await app.get("/v1/ships/b0b/image", as: token)
            #expect(Array(stored.body) == TestPicture.greyPixel)
            #expect(stored.cacheStatus?.hasPrefix("larder; hit") == true)
            #expect(app.spaceX.requests.count == asked)
            let tag = try #require(stored.headerFields[.eTag])
            #expect(try await app.get("/v1/ships/b0b/image", as: token, [.ifNoneMatch: tag]).status == 304)
            let head = try await app.ask(.head, "/v1/ships/b0b/image", as: token)
            #expect(head.body.isEmpty)
            #expect(head.headerFields[.contentLength] == "\(TestPicture.greyPixel.count)")
        }
    }

    @Test("the type is what the bytes say, whatever the host called it; the session's token does not leave")
    func sniffed() async throws {
        try await run { app, token in
            app.spaceX.showPicture(ShipFixtures.jpeg, type: "text/html", at: Self.url)
            #expect(try await app.get("/v1/ships/b0b/image", as: token).headerFields[.contentType] == "image/jpeg")
            let request = try #require(app.spaceX.requests.last)
            #expect(request.headerFields[.authorization] == nil)
            #expect(request.headerFields[.accept] == "image/*")
        }
    }

    @Test("a picture above the size of a row comes back whole")
    func large() async throws {
        try await run { app, token in
            let bytes = TestPicture.greyPixel + (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
            app.spaceX.showPicture(bytes, at: Self.url)
            for _ in 0..<2 {
                let response = try await app.get("/v1/ships/b0b/image", as: token)
                #expect(Array(response.body) == bytes)
            }
        }
    }

    @Test("a ship without a picture has the placeholder, and the upstream is not requested")
    func none() async throws {
        try await run { app, token in
            expectPlaceholder(try await app.get("/v1/ships/a1/image", as: token), "larder; detail=placeholder")
            #expect(app.spaceX.requests.count == 1)
        }
    }

    @Test("a page of text instead of a picture is the placeholder, and is not kept")
    func html() async throws {
        try await run { app, token in
            app.spaceX.showPicture(Array("<html>moved</html>".utf8), type: "image/png", at: Self.url)
            expectPlaceholder(
                try await app.get("/v1/ships/b0b/image", as: token),
                "larder; fwd=uri-miss; fwd-status=200; detail=placeholder"
            )
            app.spaceX.showPicture(TestPicture.greyPixel, at: Self.url)
            let known = try await app.get("/v1/ships/b0b/image", as: token)
            expectPlaceholder(known, "larder; detail=placeholder")
            let forced = try await app.get("/v1/ships/b0b/image?refresh=1", as: token)
            #expect(Array(forced.body) == TestPicture.greyPixel)
        }
    }

    @Test("a damaged picture is the placeholder, and is not kept", arguments: [40, TestPicture.greyPixel.count - 1])
    func damaged(length: Int) async throws {
        try await run { app, token in
            var corrupt = TestPicture.greyPixel
            corrupt[42] ^= 1
            for bytes in [Array(TestPicture.greyPixel.prefix(length)), corrupt] {
                app.spaceX.showPicture(bytes, at: Self.url)
                expectPlaceholder(
                    try await app.get("/v1/ships/b0b/image", as: token),
                    "larder; fwd=uri-miss; fwd-status=200; detail=placeholder"
                )
            }
            app.spaceX.showPicture(TestPicture.greyPixel, at: Self.url)
            #expect(try await Array(app.get("/v1/ships/b0b/image", as: token).body) == TestPicture.greyPixel)
        }
    }

    @Test("Cache-Status names no request for a placeholder if none was sent")
    func notForwarded() async throws {
        try await run { app, token in
            app.spaceX.showPicture(TestPicture.greyPixel, at: Self.url)
            _ = try await app.get("/v1/ships/b0b/image", as: token)
            // Stored by an earlier version, which accepted it.
            try await app.database.write { db in
                try db.execute(
                    sql: """
                        UPDATE stored_body SET bytes = x'00' WHERE response_id IN (
                            SELECT id FROM stored_response WHERE url LIKE 'https://pictures.test%'
                        )
                        """
                )
            }
            let count = app.spaceX.requests.count
            let response = try await app.get("/v1/ships/b0b/image", as: token)
            #expect(response.cacheStatus?.contains("detail=placeholder") == true)
            #expect(response.cacheStatus?.contains("fwd") == false && app.spaceX.requests.count == count)
        }
    }

    @Test(
        "ONE-12 a picture that is missing, forbidden or gone is the placeholder, and not asked for within a minute",
        arguments: [403, 404, 410]
    )
    func missing(status: Int) async throws {
        try await run { app, token in
            app.spaceX.showPicture(TestPicture.greyPixel, status: status, at: Self.url)
            expectPlaceholder(
                try await app.get("/v1/ships/b0b/image", as: token),
                "larder; fwd=uri-miss; fwd-status=\(status); detail=placeholder"
            )
            let count = app.spaceX.requests.count
            app.clock.advance(by: .seconds(59))
            expectPlaceholder(try await app.get("/v1/ships/b0b/image", as: token), "larder; detail=placeholder")
            #expect(app.spaceX.requests.count == count)
        }
    }

    @Test("ONE-12 a host of pictures that asked for a pause is left alone, and Cache-Status names no request")
    func paused() async throws {
        try await run { app, token in
            let fields: HTTPFields = [.retryAfter: "30"]
            app.spaceX.showPicture([], status: 429, headerFields: fields, at: Self.url)
            expectPlaceholder(
                try await app.get("/v1/ships/b0b/image", as: token),
                "larder; fwd=uri-miss; fwd-status=429; detail=placeholder"
            )
            let count = app.spaceX.requests.count
            expectPlaceholder(try await app.get("/v1/ships/b0b/image", as: token), "larder; detail=placeholder")
            #expect(app.spaceX.requests.count == count)
        }
    }

    @Test("a host of pictures out of reach is the placeholder; the ships are not offline for that")
    func unreachable() async throws {
        try await run { app, token in
            app.spaceX.become(.unreachable(.connectTimeout))
            expectPlaceholder(
                try await app.get("/v1/ships/b0b/image", as: token),
                "larder; fwd=uri-miss; detail=placeholder"
            )
            expectPlaceholder(try await app.get("/v1/ships/b0b/image", as: token), "larder; detail=placeholder")
            app.spaceX.become(.ships(ShipFixtures.fleet))
            #expect(try await app.get("/v1/ships", as: token)["meta.offline"] == false)
        }
    }

    @Test(
        "links to hosts that are not listed, and to what is no web address, are never followed",
        arguments: [
            "https://evil.test/x.png", "http://127.0.0.1:9/x.png", "http://169.254.169.254/latest",
            "file:///etc/passwd", "data:image/png;base64,AAAA", "x.png",
            "//evil.test/x",
            "https://pictures.test@evil.test/x.png", "https://pictures.test.evil.test/x.png", "http://pictures.test:x/",
            "javascript:alert(1)",
            "https://user@pictures.test/x.png",
        ]
    )
    func foreign(url: String) async throws {
        try await run([ShipFixtures.record("x1", "X", #""image":"\#(url)""#)]) { app, token in
            let response = try await app.get("/v1/ships/x1/image", as: token)
            expectPlaceholder(response, "larder; detail=placeholder")
            #expect(app.spaceX.requests.count == 1)
        }
    }

    @Test("a redirect is followed to a listed host, not to another")
    func redirects() async throws {
        try await run { app, token in
            app.spaceX.showPicture(
                [],
                status: 302,
                headerFields: [.location: "https://evil.test/x.png"],
                at: Self.url
            )
            let refused = try await app.get("/v1/ships/b0b/image", as: token)
            #expect(refused.headerFields[.cacheControl] == "no-store")
            #expect(!app.spaceX.requests.contains { $0.url.contains("evil") })
            app.clock.advance(by: .seconds(60))
            app.spaceX.showPicture([], status: 302, headerFields: [.location: "/moved.png"], at: Self.url)
            app.spaceX.showPicture(TestPicture.greyPixel, at: "https://pictures.test/moved.png")
            #expect(try await Array(app.get("/v1/ships/b0b/image", as: token).body) == TestPicture.greyPixel)
        }
    }

    @Test("only-if-cached asks no upstream: 504 if the picture is not stored, the placeholder if there is none")
    func onlyIfCached() async throws {
        try await run { app, token in
            let fields: HTTPFields = [.cacheControl: "only-if-cached"]
            try await app.get("/v1/ships/b0b/image", as: token, fields).expectProblem("not-in-cache", 504)
            #expect(try await app.get("/v1/ships/a1/image", as: token, fields).status == 200)
            #expect(app.spaceX.requests.count == 1)
            app.spaceX.showPicture(TestPicture.greyPixel, at: Self.url)
            _ = try await app.get("/v1/ships/b0b/image", as: token)
            #expect(try await Array(app.get("/v1/ships/b0b/image", as: token, fields).body) == TestPicture.greyPixel)
        }
    }
}
