import Foundation
import TestKit
import Testing

/// The controls of a server through the server itself, as its pages reach them.
@Suite(.timeLimit(.minutes(5))) struct HarnessRelayTests {
    @Test("Through the server, its own reset ends with its response; controls are in no journal and not in the way")
    func relayed() async throws {
        let tested = try await TestedLarder.start()
        let status = try await tested.client.get("/v1/status").json.data
        #expect(status.harness.base.string == "/v1/harness" && status.sandbox.base.string == "/v1/sandbox")
        let clock = try await tested.client.put("/v1/harness/clock", #"{"now":"2030-01-05T10:00:00Z","frozen":true}"#)
        #expect(clock.status == 200, "\(clock.text)")
        let guest = try await tested.larder.guest()
        try await tested.sandbox.fault("hold")
        async let held = guest.get("/v1/ships")
        try await tested.sandbox.arrived(1)
        let waiting = try await tested.client.get("/v1/harness/journal?waiting=true&count").json
        #expect(waiting.count.int == 1)
        let all = try await tested.client.get("/v1/harness/journal").json.entries.elements.compactMap(\.path.string)
        #expect(!all.isEmpty && !all.contains { $0.hasPrefix("/v1/harness") || $0.hasPrefix("/v1/sandbox") })

        let reset = try await tested.client.send("POST", "/v1/harness/reset")
        #expect(reset.status == 204, "\(reset.text)")
        #expect(try await held.status == 503)
        #expect(try await guest.get("/v1/ships").status == 401)
        #expect(try await tested.client.get("/v1/harness/journal").json.count.int == 1)
        #expect(try await tested.client.get("/v1/harness/clock").json.frozen.bool == false)
        #expect(await tested.larder.stop() == 0)
    }
}
