import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Shop

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
