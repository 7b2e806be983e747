import TestKit
import Testing
import Upstream

@testable import Notes

@Suite("The time of content on the screens of Notes that have an upstream")
struct ContentTimeTests {
    private static let screens = [
        "people?limit=2", "people?q=name1", "people/1?", "places?q=paris", "people?replace=1", "people/2?replace=1",
    ]

    @Test("ONE-02 fetched_at moves whenever the content did", arguments: 0..<4)
    func moves(seed: Int) async throws {
        let step = Watched(0)
        let people: ScriptedTransport.Step = { (_) throws(UpstreamError) in
            .json(
                "["
                    + (1...3).map { #"{"id":\#($0),"first_name":"Name\#($0 + step.value / 5)"}"# }.joined(
                        separator: ","
                    ) + "]"
            )
        }
        let places: ScriptedTransport.Step = { (_) throws(UpstreamError) in
            .json(
                #"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","#
                    + #""coordinates":[2.3,48.9]},"properties":{"name":"Paris \#(step.value / 5)"}}]}"#
            )
        }
        try await NotesHarness.run(people: people, geocoder: places) { app in
            var random = SeededRandom(seed: UInt64(seed))
            var seen = SeenContent()
            let token = try await app.register()
            for number in 0..<100 {
                step.update { $0 = number }
                app.clock.advance(by: .seconds(Int.random(in: 1...2000, using: &random)))
                let screen = Self.screens.randomElement(using: &random) ?? ""
                let refresh = Bool.random(using: &random) ? "" : "&refresh=1"
                let target = "/v1/notes/\(screen)\(refresh)"
                seen.check(try await app.get(target, as: token), of: screen)
            }
            #expect(seen.changes > 5)
        }
    }
}
