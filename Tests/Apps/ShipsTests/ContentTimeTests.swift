import TestKit
import Testing
import Upstream

@testable import Ships

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
