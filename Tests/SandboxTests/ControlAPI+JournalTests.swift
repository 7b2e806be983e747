import AsyncHTTPClient
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

@Suite struct ControlAPIJournalTests {
    @Test(
        "SRV-10 the journal has every request to an upstream with its response and fault, and no credential"
    )
    func journal() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.get(
                "/spacex/v4/ships?x=1",
                headers: ["Authorization": "OAuth y0_secret", "X-Trace": "t"]
            )
            _ = try? await sandbox.get("/spacex/v4/ships", headers: ["Sandbox-Fault": "offline"])
            _ = try await sandbox.get("/spacex/v4/ships/none", headers: ["Sandbox-Fault": "slow(0)"])
            let response = try await sandbox.get("/_sandbox/journal?upstream=spacex")
            let entries = try #require(try response.object()["entries"]?.array).compactMap(\.object)
            #expect(entries.compactMap { $0["sequence"] } == [1, 2, 3])
            #expect(entries.compactMap { $0["status"] } == [200, .null, 404])
            #expect(entries.compactMap { $0["fault"]?.string } == ["online", "offline", "slow(0)"])
            #expect(entries[0]["method"] == "GET" && entries[0]["path"] == "/spacex/v4/ships?x=1")
            #expect(entries[0]["headers"]?.object?["x-trace"] == "t")
            #expect(entries[0]["headers"]?.object?["authorization"]?.string?.hasPrefix("sha256:") == true)
            #expect(!response.text.contains("y0_secret"))
        }
    }

    @Test("the journal is emptied by DELETE")
    func clearing() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.get("/spacex/v4/ships")
            #expect(try await sandbox.send(.DELETE, "/_sandbox/journal").status == 200)
            #expect(try await sandbox.get("/_sandbox/journal").object()["count"] == 0)
        }
    }

    @Test("a wait responds when the last of its requests has arrived")
    func waiting() async throws {
        // A clock that no test advances: only requests can end the wait.
        let clock = ManualClock()
        try await withSandbox(clock: clock.monotonic) { sandbox in
            async let waited = sandbox.get(
                "/_sandbox/journal/wait?upstream=spacex&path=/spacex/v4/&count=2&timeout_ms=1"
            )
            _ = await clock.nextSleep()
            _ = try await sandbox.get("/spacex/v4/ships")
            _ = try await sandbox.get("/spacex/images/osprey.png")
            _ = try await sandbox.get("/spacex/v4/ships")
            let response = try await waited
            #expect(response.status == 200)
            #expect(try response.object()["count"] == 2)
        }
    }

    @Test("a wait whose requests do not come is 408 at its timeout")
    func timeout() async throws {
        let clock = ManualClock()
        try await withSandbox(clock: clock.monotonic) { sandbox in
            _ = try await sandbox.get("/spacex/v4/ships")
            async let waited = sandbox.get("/_sandbox/journal/wait?count=2&timeout_ms=750")
            #expect(await clock.nextSleep() == .milliseconds(750))
            clock.advance(by: .milliseconds(750))
            let response = try await waited
            #expect(response.status == 408)
            #expect(try response.object()["code"] == "timeout")
        }
    }
}
