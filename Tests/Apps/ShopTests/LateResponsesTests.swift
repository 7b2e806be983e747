import Foundation
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Sandbox
@testable import Shop

@Suite("Searches that the catalogue does not answer in time", .timeLimit(.minutes(10)))
struct LateResponsesTests {
    /// Searches while the catalogue is slow, and returns the response after the patience.
    private func searchSlowly(_ target: String, _ app: ShopHarness) async throws -> Exchanged {
        app.transport.hold()
        async let response = app.get(target)
        await app.transport.requestIsHeld()
        await app.clock.sleepers(of: .seconds(2))
        app.clock.advance(by: .seconds(2))
        return try await response
    }

    @Test("SHOP-20 screen-changed announces the late response once, and then the search has it")
    func announced() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?limit=100")
            app.clock.advance(by: .seconds(60))
            try app.control(.put, "products/900", #"{"title":"Mug of late","price":4}"#)
            let early = try await searchSlowly("/v1/shop/search?q=mug", app)
            #expect(early.ids == [53] && early["meta.partial"] == true && early["meta.stale"] == true)
            #expect(app.events.published.filter { $0.json.contains("shop.search") } == [])
            app.transport.release()
            await app.events.published("screen-changed", containing: "shop.search")
            #expect(try await app.get("/v1/shop/search?q=mug").ids == [53, 900])
            let announced = app.events.published.filter { $0.json.contains("shop.search") }
            // Other profiles have not seen the search without it.
            #expect(announced.map(\.audience) == [.profile(app: "shop", profile: "local")])
        }
    }

    @Test("SHOP-20 a late response that fails is not announced")
    func failed() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?limit=100")
            let early = try await searchSlowly("/v1/shop/search?q=mug", app)
            #expect(early["meta.partial"] == true)
            app.transport.always { (_) throws(UpstreamError) in .page(500) }
            app.transport.release()
            let after = try await app.get("/v1/shop/search?q=mug")
            #expect(after["meta.partial"] == true && after["meta.stale"] == true)
            #expect(app.events.published.filter { $0.json.contains("shop.search") } == [])
        }
    }

    @Test("SHOP-20 with nothing to show, a search waits for a slow catalogue beyond the patience")
    func waits() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?limit=3")
            app.transport.hold()
            async let response = app.get("/v1/shop/search?q=mug")
            await app.transport.requestIsHeld()
            await app.clock.sleepers(of: .seconds(2))
            app.clock.advance(by: .seconds(2))
            // Most of the time the search waits again by now. If not, it finds the late response in the store.
            for _ in 0..<1000 { await Task.yield() }
            app.transport.release()
            #expect(try await response.ids == [53])
            #expect(app.asked.count == 2)
        }
    }

    @Test(
        "SHOP-20 a page that is not known to be empty says so in another text than an empty one",
        arguments: [true, false]
    )
    func unknown(isOffline: Bool) async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?limit=3")
            let certain = try await app.get("/v1/shop/search?q=zzz")
            if isOffline {
                app.transport.goAway()
            } else {
                app.transport.always { (_) throws(UpstreamError) in .page(500) }
            }
            let empty = try await app.get("/v1/shop/search?q=yyy")
            #expect(
                empty["meta.state"] == "empty" && empty["meta.partial"] == true
                    && empty["meta.offline"] == .bool(isOffline)
            )
            #expect(empty["data.empty.title"] == "Каталог сейчас недоступен" && empty["data.actions.0.id"] == "retry")
            #expect(certain["data.empty.title"] != empty["data.empty.title"] && certain["meta.partial"] == nil)
        }
    }

    @Test("when the catalogue recovers, screen-changed announces that searches may find something else")
    func recovered() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search")
            try await app.goOffline()
            await app.recover()
            let kinds = app.events.published.filter { $0.json.contains("shop.search") || $0.kind == "connectivity" }
            #expect(kinds.map(\.kind).suffix(2) == ["screen-changed", "connectivity"])
        }
    }
}

@Suite("Reads on a full disk", .timeLimit(.minutes(10)))
struct FullDiskTests {
    private static let rows = (1...4).map { #"{"id":\#($0),"title":"P\#($0)","price":1}"# }.joined(separator: ",")

    /// A list that is confirmed by its entity tag, and product 2, which the API says is gone when it is asked for it.
    private static func respond(_ request: OutgoingRequest) -> IncomingResponse {
        if request.url.hasSuffix("/products/2") {
            let error = #"{"name":"EntityNotFoundError","path":"/api/v1/products/2"}"#
            return .json(error, status: .badRequest)
        }
        let fields: HTTPFields = [.eTag: #""a""#]
        return request.headerFields[.ifNoneMatch] == nil
            ? .json("[\(rows)]", headerFields: fields) : IncomingResponse(status: .notModified, headerFields: fields)
    }

    @Test("TRUST-02 each system call of a read finds no space: a product that is back is shown all the same")
    func back() async throws {
        let directory = try DataDirectory.temporary()
        let disk = try FaultScope(directory.path)
        try await ShopHarness.run(directory: directory) { (app) async throws in
            app.transport.always { (request) throws(UpstreamError) in Self.respond(request) }
            #expect(try await app.get("/v1/shop/search?limit=3").ids == [1, 2, 3])
            for step in 1..<500 {
                try await app.get("/v1/shop/products/2?refresh=1").expectProblem("not-found", 404)
                #expect(try await app.get("/v1/shop/search?limit=3").ids == [1, 3, 4])
                let (shown, hasFailed) = await disk.failing(.noRoomOnce, at: step) {
                    try? await app.get("/v1/shop/search?limit=3&refresh=1")
                }
                // An fsync that fails once, on a disk that has space again, is an error of the disk.
                let isFsync = shown?.status == 500 && shown?["code"] == "storage-failed"
                let isShown = shown?.status == 200 && shown?["meta.offline"] == false
                #expect(isShown || isFsync, "step \(step): \(shown?.text ?? "")")
                #expect(shown?.cacheStatus?.contains("bad-response") != true, "step \(step)")
                #expect(try await app.get("/v1/shop/search?limit=3&refresh=1").ids == [1, 2, 3], "step \(step)")
                guard hasFailed else { return #expect(step > 2) }
            }
        }
    }
}

@Suite("The time of content on the screens of the Shop")
struct ContentTimeTests {
    private static let screens = [
        "search?limit=5", "search?limit=5&offset=5", "search?q=shirt", "search?q=shirt&category=1",
        "search?price_min=10&price_max=60", "categories", "categories?limit=2&offset=1", "products/2", "products/5",
        "products/7/share", "products/2/related", "search?sort=-price&limit=5", "suggestions?q=sh",
    ]

    private static func change(_ app: ShopHarness, _ random: inout SeededRandom, _ step: Int) throws {
        let id = Int.random(in: 1...12, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: try app.control(.put, "products/\(id)", #"{"price":\#(10 + step)}"#)
        case 2: try app.control(.put, "products/\(id)", #"{"title":"Shirt \#(step)"}"#)
        case 3: try app.control(.put, "categories/\(1 + id % 3)", #"{"name":"Category \#(step)"}"#)
        default: if step % 4 == 0 { try app.control(.delete, "products/\(id)") }
        }
    }

    @Test("ONE-02 fetched_at moves whenever the content did, whichever screen was told", arguments: 0..<12)
    func moves(seed: Int) async throws {
        try await ShopHarness.run { app in
            var random = SeededRandom(seed: UInt64(seed))
            var seen = SeenContent()
            for step in 0..<120 {
                app.clock.advance(by: .seconds(Int.random(in: 1...20, using: &random)))
                switch Int.random(in: 0..<10, using: &random) {
                // The sandbox refuses to change a product that was deleted.
                case 0..<5: try? Self.change(app, &random, step)
                case 5: app.transport.always { (_) throws(UpstreamError) in throw .unreachable(.refused) }
                default: app.respondAgain()
                }
                let screen = Self.screens.randomElement(using: &random) ?? ""
                let isStored = screen.hasPrefix("suggestions") || Bool.random(using: &random)
                let refresh = isStored ? "" : screen.contains("?") ? "&refresh=1" : "?refresh=1"
                seen.check(try await app.get("/v1/shop/\(screen)\(refresh)"), of: screen)
                // Nobody else changes the filters of this profile.
                seen.check(try await app.get("/v1/shop/filters", as: "anna"), of: "filters")
            }
            #expect(seen.changes > 10)
        }
    }
}
