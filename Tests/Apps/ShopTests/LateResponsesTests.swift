import Foundation
import HTTPTypes
import Screens
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
