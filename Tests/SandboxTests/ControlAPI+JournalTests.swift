import JSONValues
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

@Suite struct ControlAPIJournalTests {
    @Test("SRV-10 the journal has every request to an upstream with its response and fault, and no credential")
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

    @Test(
        "HARN-13 the journal is filtered by method, path, query, field, status, number and identity, and counted",
        arguments: [
            ("method=POST", [2]), ("path=/spacex/v4/ships/", [2, 3]), ("query=a=1", [1]), ("query=a", [1, 3]),
            ("header=x-app:%20two", [2]), ("header=X-App", [1, 2]), ("status=404", [3]), ("status=none", [4]),
            ("since=2", [3, 4]), ("until=2", [1, 2]), ("since=1&until=3&query=a", [3]), ("request_id=app-7", [3]),
            ("method=&status=&since=&query=", [1, 2, 3, 4]), ("limit=2", [3, 4]),
        ]
    )
    func filters(query: String, sequences: [Int]) async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.get("/spacex/v4/ships?a=1", headers: ["X-App": "one"])
            _ = try await sandbox.send(.POST, "/spacex/v4/ships/query", headers: ["X-App": "two"], body: "{}")
            _ = try await sandbox.get("/spacex/v4/ships/none?a=2", headers: ["X-Request-Id": "app-7"])
            _ = try? await sandbox.get("/spacex/v4/ships", headers: ["Sandbox-Fault": "offline"])
            let found = try await sandbox.get("/_sandbox/journal?\(query)").object()
            let entries = try #require(found["entries"]?.array).compactMap(\.object)
            #expect(entries.compactMap { $0["sequence"] } == sequences.map { .integer($0) })
            let count = query == "limit=2" ? 4 : sequences.count
            #expect(found["count"] == .integer(count))
            #expect(
                try await sandbox.get("/_sandbox/journal?count&\(query)").text == #"{"count":\#(count),"dropped":0}"#
            )
        }
    }

    @Test("HARN-13 an entry has its time, identity, cause, bytes and body, without the body's tokens")
    func entry() async throws {
        try await withSandbox { sandbox in
            let body = #"{"query":{"refresh_token":"planted"},"options":{"limit":1}}"#
            let fields: HTTPHeaders = ["X-Request-Id": "app-7", "Larder-Cause": "12", "Authorization": "OAuth y0_s"]
            let response = try await sandbox.send(.POST, "/spacex/v4/ships/query", headers: fields, body: body)
            let text = try await sandbox.get("/_sandbox/journal").text
            let entry = try #require(try JSONParser.parse(Array(text.utf8)).object?["entries"]?.array?.first?.object)
            #expect(entry["request_id"] == "app-7" && entry["cause"] == 12)
            #expect(entry["bytes"] == .integer(response.body.count) && entry["rule"] == .null)
            #expect((entry["duration_ms"]?.double ?? -1) >= 0)
            #expect(entry["at"]?.string?.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil)
            #expect(entry["body"]?.object?["bytes"] == .integer(body.utf8.count))
            let shown = try #require(entry["body"]?.object?["text"]?.string)
            #expect(shown == body.replacing("planted", with: Secrets.hash("planted")))
            #expect(!text.contains("planted") && !text.contains("y0_s"))
        }
    }
}
