import Foundation
import TestKit
import Testing

/// The upstream fails and recovers.
@Suite(.timeLimit(.minutes(10))) struct RecoveryTests {
    @Test("SHIP-06 SHIP-09 SRV-09 the upstream's recovery is noticed, published and used without any client asking")
    func recovery() async throws {
        let sandbox = try await RunningSandbox.start()
        let larder = try await RunningLarder.start(
            upstream: sandbox.spacex,
            ["--upstreams-spacex-probe-interval-ms", "50"]
        )
        let guest = try await larder.guest()
        #expect(try await guest.get("/v1/ships").status == 200)
        let events = try await EventListener.open(larder.client.base + "/v1/events")
        try await sandbox.fault("offline")
        let offline = try await guest.get("/v1/ships?refresh=1").json
        #expect(offline.meta.offline.bool == true)
        let down = try #require(try await events.next("connectivity"))
        #expect(down.data.reachable.bool == false)
        #expect(
            try await guest.get("/v1/status").json.data.upstreams.elements.first { $0.name.string == "spacex" }?
                .reachable
                .bool == false
        )

        _ = try await sandbox.control.put("/spacex/ships/70ca451a41196adb40260072", #"{"name":"Renamed While Away"}"#)
        try await sandbox.fault("online")
        let changed = try #require(try await events.next("screen-changed"))
        #expect(changed.data.screen.string == "ships.list")
        let up = try #require(try await events.next("connectivity"))
        #expect(up.data.reachable.bool == true)
        let list = try await guest.get("/v1/ships")
        let shown = try list.json
        #expect(shown.meta.offline.bool == false && shown.meta.banner.isNull)
        #expect(
            list["Cache-Status"]?.hasPrefix("larder; hit; ttl=") == true,
            "the first response after recovery has what recovery fetched"
        )
        #expect(shown.data.items.elements.contains { $0.name.string == "Renamed While Away" })
        #expect(shown.data.changes.updated.strings.count == 1)
    }

    @Test("SRV-09 events missed while away are replayed from Last-Event-ID; an identity of another run gets a reset")
    func replay() async throws {
        let sandbox = try await RunningSandbox.start()
        let larder = try await RunningLarder.start(upstream: sandbox.spacex)
        let guest = try await larder.guest()
        let first = try await EventListener.open(larder.client.base + "/v1/events")
        let start = try #require(first.identity)
        _ = try await guest.get("/v1/ships")
        let again = try await EventListener.open(larder.client.base + "/v1/events", lastEventID: start)
        #expect(try await again.next("screen-changed")?.data.app.string == "ships")
        let stranger = try await EventListener.open(larder.client.base + "/v1/events", lastEventID: "other-1")
        #expect(try await stranger.next("reset") != nil)
    }

    @Test("SRV-04 SRV-05 after kill -9 a server with its own sandbox, on whichever port, finds what it stored from it")
    func sandboxAddress() async throws {
        let data = try TemporaryFolder()
        let larder = try await RunningLarder.start(data: data, ["--sandbox"])
        let guest = try await larder.guest()
        let list = try await guest.get("/v1/ships").json
        #expect(try await guest.get("/v1/upstreams/catalogue/products").status == 200)
        await larder.kill9()

        let second = try await RunningLarder.start(data: data, ["--sandbox"])
        let control = Client(base: try await second.process.line(after: "sandbox on "))
        let survivor = guest.moved(to: second)
        for name in ["spacex", "catalogue"] {
            _ = try await control.put("/upstreams/\(name)/fault", #"{"fault":"offline"}"#)
        }
        let offline = try await survivor.get("/v1/ships?refresh=1").json
        #expect(offline.meta.offline.bool == true && offline.meta.fetched_at.string == list.meta.fetched_at.string)
        let mounted = try await survivor.get("/v1/upstreams/catalogue/products", ["Cache-Control": "no-cache"])
        #expect(mounted.status == 200 && mounted["Larder-Offline"] == "?1")
    }

    @Test("SRV-08 many requests for the same uncached resource cause one upstream request")
    func collapsing() async throws {
        let sandbox = try await RunningSandbox.start()
        let larder = try await RunningLarder.start(
            upstream: sandbox.spacex,
            ["--upstreams-spacex-patience-ms", "60000"]
        )
        let guest = try await larder.guest()
        try await sandbox.fault("hold")
        let responses = try await withThrowingTaskGroup(of: ReceivedResponse.self) { group in
            for _ in 0..<40 { group.addTask { try await guest.get("/v1/ships") } }
            try await sandbox.arrived(1)
            // All requests have been read by the time the last of these gets its response.
            for _ in 0..<5 { _ = try await guest.get("/v1/status") }
            try await sandbox.release()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(responses.count == 40)
        #expect(responses.allSatisfy { $0.status == 200 })
        #expect(responses.allSatisfy { $0["Cache-Status"] != nil })
        #expect(try await sandbox.journal().filter { $0 == "/spacex/v4/ships" }.count == 1)
    }

    @Test("SRV-05 an upstream that fails is stale, not offline; a 429's Retry-After is honoured")
    func failing() async throws {
        let sandbox = try await RunningSandbox.start()
        let larder = try await RunningLarder.start(upstream: sandbox.spacex, ["--freshness-ships-s", "0"])
        let guest = try await larder.guest()
        _ = try await guest.get("/v1/ships")
        try await sandbox.fault("error(429, 60)")
        let asked = try await guest.get("/v1/ships")
        #expect(asked["Cache-Status"] == "larder; fwd=stale; fwd-status=429; detail=stale-if-error")
        #expect(try asked.json.meta.stale.bool == true)
        #expect(try asked.json.meta.offline.bool == false)
        #expect(try asked.json.meta.banner.code.string == "stale")
        let count = try await sandbox.journal().count
        let spared = try await guest.get("/v1/ships")
        #expect(spared["Cache-Status"]?.hasSuffix("detail=retry-after") == true)
        #expect(try await sandbox.journal().count == count)
        for fault in ["garbage", "truncated"] {
            try await sandbox.fault(fault)
            let response = try await guest.get("/v1/ships?refresh=1")
            #expect(response["Cache-Status"]?.contains("detail=bad-response") == true)
            #expect(try response.json.data.items.elements.count == 30, "the good copy is still whole after \(fault)")
        }
    }
}
