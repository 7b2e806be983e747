import Foundation
import TestKit
import Testing

/// An upstream that refuses connections (docs/sandbox.md).
@Suite(.timeLimit(.minutes(3))) struct HarnessRefusalTests {
    @Test("HARN-12 refused: Larder's connections to one upstream are refused, no request arrives, others are reached")
    func refused() async throws {
        let never = ["--upstreams-spacex-probe-interval-ms", "3600000"]
        let tested = try await TestedLarder.start(never)
        let guest = try await tested.larder.guest()
        let online = try await guest.get("/v1/ships?refresh=1").json
        #expect(online.meta.offline.bool == false)
        let arrived = try await tested.sandbox.journal().count

        try await tested.sandbox.fault("refused")
        let refused = try await guest.get("/v1/ships?refresh=1").json
        #expect(refused.meta.offline.bool == true && refused.data == online.data)
        let rows = try await tested.client.get("/v1/status").json.data.upstreams.elements
        let spacex = try #require(rows.first { $0.name.string == "spacex" })
        #expect("\(spacex)".contains("refused"), "\(spacex)")
        #expect(try await tested.sandbox.journal().count == arrived)
        #expect(try await tested.client.get("/v1/shop/search").status == 200)
        // The controls share the port, so it has to accept connections: other clients see the same as with `offline`.
        await #expect(throws: (any Error).self) { try await tested.sandbox.client.get("/spacex/v4/ships") }

        try await tested.sandbox.fault("online")
        #expect(try await guest.get("/v1/ships?refresh=1").json.meta.offline.bool == false)
        #expect(try await tested.sandbox.journal().count > arrived)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-12 refused is of a whole upstream: no rule, no single request and no route of Larder has it")
    func wholeUpstreams() async throws {
        let tested = try await TestedLarder.start()
        let rules = "/upstreams/spacex/rules"
        for body in [#"{"fault":"refused"}"#, #"{"faults":["error(500)","refused"]}"#] {
            let response = try await tested.sandbox.control.post(rules, body)
            #expect(response.status == 400 && response.text.contains("whole upstream"), "\(response.text)")
        }
        let header = try await tested.sandbox.client.get("/spacex/v4/ships", ["Sandbox-Fault": "refused"])
        #expect(header.status == 400)
        let front = try await tested.harness.put("/front/fault", #"{"route":"/v1/ships","fault":"refused"}"#)
        #expect(front.status == 400)
        #expect(await tested.larder.stop() == 0)
    }
}
