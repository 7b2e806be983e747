import Foundation
import TestKit
import Testing

/// Every acknowledged write outlives the process, however that ends.
@Suite(.timeLimit(.minutes(10))) struct SurvivalTests {
    @Test("SRV-04 SRV-05 SHIP-04 ships outlive kill -9 and are served offline, flagged, in the same order")
    func cacheSurvivesKill() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let first = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        let guest = try await first.guest()
        let online = try await guest.get("/v1/ships")
        #expect(online.status == 200)
        #expect(online["Cache-Status"] == "larder; fwd=uri-miss; stored")
        #expect(try online.json.meta.offline.bool == false)
        await first.kill9()
        await sandbox.kill9()

        let second = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        let again = guest.moved(to: second)
        let offline = try await again.get("/v1/ships?refresh=1")
        let (before, after) = (try online.json, try offline.json)
        #expect(offline.status == 200)
        #expect(after.data.items.elements.map(\.id.string) == before.data.items.elements.map(\.id.string))
        #expect(after.data.items.elements.count == 30)
        #expect(after.meta.offline.bool == true && after.meta.stale.bool == true)
        #expect(after.meta.source.string == "upstream")
        #expect(after.meta.fetched_at.string == before.meta.fetched_at.string)
        #expect(after.meta.banner.text.string == "No internet connection. You’re in Offline mode.")
        #expect(offline["Cache-Status"]?.hasSuffix("detail=unreachable") == true)
        #expect(offline["Age"].flatMap(Int.init) != nil)
    }

    @Test("SHIP-02 SHIP-08 a session and a deletion that were acknowledged outlive kill -9")
    func writesSurviveKill() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let first = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        let login = #"{"mode":"login","username":"example@domain.com","password":"x"}"#
        let user = try await first.client.session("ships", login)
        let id = try #require(try await user.get("/v1/ships").json.data.items[0].id.string)
        #expect(try await user.delete("/v1/ships/\(id)").status == 200)
        await first.kill9()

        let second = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        let again = user.moved(to: second)
        #expect(try await again.get("/v1/ships/session").json.data.name.string == "example@domain.com")
        let list = try await again.get("/v1/ships?refresh=1").json
        #expect(list.data.items.elements.allSatisfy { $0.id.string != id })
        #expect(list.data.hidden_count.int == 1)
        let details = try await again.get("/v1/ships/\(id)")
        #expect(details.status == 404)
        #expect(try details.json.code.string == "ship-deleted")
    }

    @Test("ONE-09 a change whose process is killed at any moment is made once when it is repeated with its key")
    func repeatedAfterKill() async throws {
        let data = try TemporaryFolder()
        let settings = ["--sandbox", "--node-apps", "notes", "--notes-scrypt-logarithm", "10"]
        var larder = try await RunningLarder.start(data: data, settings)
        let writer = try await larder.client.writer()
        var first: ReceivedResponse?
        for round in 0..<6 {
            let running = larder
            let send = { @Sendable (larder: RunningLarder) in
                let key = ["Idempotency-Key": "r\(round)"]
                return try await writer.moved(to: larder).send("POST", "/v1/notes", key, body: #"{"body":"\#(round)"}"#)
            }
            if round == 0 {
                first = try await send(larder)
            } else {
                // The response is lost, or was never made.
                async let lost = send(running)
                for _ in 0..<round { _ = try await writer.moved(to: larder).get("/v1/notes") }
                larder.process.signal(SIGKILL)
                _ = try? await lost
            }
            await larder.kill9()
            larder = try await RunningLarder.start(data: data, settings)
            let again = try await send(larder)
            #expect(again.status == 201)
            if let first, round == 0 { #expect(again.body == first.body && again["Idempotency-Replayed"] == "true") }
            let total = try await writer.moved(to: larder).get("/v1/notes").json.meta.page.total.number
            #expect(total == Double(round + 1))
        }
        #expect(await larder.stop() == 0)
    }

    @Test("SHIP-12 a first start without upstream shows the bundled ships with flag and date; recovery replaces them")
    func snapshot() async throws {
        let sandbox = try await RunningSandbox.start()
        try await sandbox.fault("offline")
        let larder = try await RunningLarder.start(upstream: sandbox.spacex)
        let guest = try await larder.guest()
        let first = try await guest.get("/v1/ships")
        let shown = try first.json
        #expect(first.status == 200)
        #expect(shown.data.items.elements.count == 29)
        #expect(shown.meta.offline.bool == true)
        #expect(shown.meta.fetched_at.string == "2024-10-09T00:00:00Z")
        #expect((first["Age"].flatMap(Int.init) ?? 0) > 365 * 24 * 3600)
        try await sandbox.fault("online")
        let second = try await guest.get("/v1/ships?refresh=1").json
        #expect(second.meta.offline.bool == false)
        #expect(second.data.items.elements.count == 30)
        #expect(second.meta.banner.isNull)
    }

    @Test("SRV-12 SIGTERM: the request in flight gets its response, the exit code is 0, the data directory is unlocked")
    func gracefulStop() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await RunningLarder.start(
            data: data,
            upstream: sandbox.spacex,
            ["--upstreams-spacex-patience-ms", "60000"]
        )
        let guest = try await larder.guest()
        try await sandbox.fault("hold")
        async let held = guest.get("/v1/ships")
        try await sandbox.arrived(1)
        larder.process.signal(SIGTERM)
        try await larder.process.logged("gracefully")
        try await sandbox.release()
        let response = try await held
        #expect(response.status == 200)
        #expect(try response.json.data.items.elements.count == 30)
        #expect(await larder.process.ended() == 0)
        let next = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        #expect(await next.stop() == 0)
    }
}
