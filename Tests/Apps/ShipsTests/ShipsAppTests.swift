import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Ships

@Suite("When the cache has to make room")
struct ShipsAppTests {
    @Test("SHIP-09 SRV-05 after eviction the ships are still there, with their own age, not that of the bundled ones")
    func shipsStayTruthful() async throws {
        try await ShipsHarness.run { app, token in
            let online = try await app.get("/v1/ships", as: token)
            let freed = try await CacheEviction(app.database, budget: CacheBudget(bytes: 0)).run()
            #expect(freed.count == 0, "the list is pinned")
            app.clock.advance(by: .seconds(60))
            let cached = try await app.get("/v1/ships", as: token, [.cacheControl: "only-if-cached"])
            #expect(cached.status == 200)
            #expect(cached["meta.fetched_at"] == "2026-01-05T10:00:00Z")
            app.spaceX.become(.unreachable(.refused))
            let offline = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(offline["meta.fetched_at"] == "2026-01-05T10:00:00Z")
            #expect(offline["meta.offline"] == true)
            #expect(offline["data.items"] == online["data.items"])
        }
    }

    @Test("An evicted picture is fetched again; deletions and sessions outlive eviction")
    func pictures() async throws {
        try await ShipsHarness.run { app in
            app.spaceX.showPicture(TestPicture.greyPixel, type: "image/png", at: "https://pictures.test/bob.png")
            let token = try await app.logIn()
            _ = try await app.get("/v1/ships", as: token)
            #expect(try await app.ask(.delete, "/v1/ships/a1", as: token).status == 200)
            #expect(try await app.get("/v1/ships/b0b/image", as: token).cacheStatus == "larder; fwd=uri-miss; stored")
            let freed = try await CacheEviction(app.database, budget: CacheBudget(bytes: 0)).run()
            #expect(freed.responses == 1)
            let again = try await app.get("/v1/ships/b0b/image", as: token)
            #expect(again.cacheStatus == "larder; fwd=uri-miss; stored")
            #expect(Array(again.body) == TestPicture.greyPixel)
            #expect(try await app.get("/v1/ships", as: token)["data.hidden_count"] == 1)
        }
    }
}

@Suite("The time of content on the screens of Ships")
struct ContentTimeTests {
    private static let screens = ["", "?limit=2&offset=1", "/b0b", "/a1", "/ca"]

    @Test("ONE-02 fetched_at moves whenever the content did", arguments: 0..<8)
    func moves(seed: Int) async throws {
        try await ShipsHarness.run { app in
            var random = SeededRandom(seed: UInt64(seed))
            var seen = SeenContent()
            let token = try await app.logIn()
            for step in 0..<100 {
                app.clock.advance(by: .seconds(Int.random(in: 1...8, using: &random)))
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<5:
                    var ships = ShipFixtures.fleet.filter { _ in Int.random(in: 0..<6, using: &random) > 0 }
                    ships.append(ShipFixtures.record("n\(step % 3)", "Ship \(step)", #""year_built":\#(1900 + step)"#))
                    app.spaceX.become(.ships(ships))
                case 5: app.spaceX.become(.unreachable(.refused))
                case 6: app.spaceX.become(.response(503))
                default: break
                }
                let screen = Self.screens.randomElement(using: &random) ?? ""
                let refresh = Bool.random(using: &random) ? "" : screen.contains("?") ? "&refresh=1" : "?refresh=1"
                seen.check(try await app.get("/v1/ships\(screen)\(refresh)", as: token), of: screen)
            }
            #expect(seen.changes > 10)
        }
    }
}
