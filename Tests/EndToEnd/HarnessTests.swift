import Foundation
import TestKit
import Testing

/// Controls of a whole server, used by a test author between tests and within them (docs/harness.md).
@Suite(.timeLimit(.minutes(5))) struct HarnessTests {
    @Test("HARN-01 after a reset every screen is that of a new data directory, whatever was before")
    func likeNew() async throws {
        let tested = try await TestedLarder.start()
        let new = try await tested.screens()

        // Rows, a document with its file, a deletion, kept responses, a pause, an outage.
        let (client, member) = (tested.client, try await tested.client.writer("alice"))
        #expect(try await client.post("/v1/shop/list/items", #"{"product_id":53,"quantity":2}"#).status == 201)
        let note = #"{"body":"a note","location":{"lat":10,"lon":10,"name":"Place"}}"#
        #expect(try await member.post("/v1/notes", note).status == 201)
        let draft = try await client.document(of: [DocumentTests.photo])
        #expect(try await client.post("\(draft)/save", "{}").status == 200)
        let guest = try await tested.larder.guest()
        let ship = try #require(try await guest.get("/v1/ships").json.data.items[0].id.string)
        #expect(try await guest.delete("/v1/ships/\(ship)").status < 300)
        try await tested.sandbox.fault("error(429, 60)", of: "catalogue")
        _ = try await client.get("/v1/shop/search?refresh=1")
        try await tested.sandbox.fault("offline")
        _ = try await guest.get("/v1/ships?refresh=1")
        #expect(try await client.get("/v1/status").text.contains(#""reachable":false"#))

        try await tested.reset()
        #expect(try await guest.get("/v1/ships").status == 401)
        #expect(try await tested.screens() == new)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-02 a request that a reset overtakes gets 503, and what comes after it sees the new state only")
    func overtaken() async throws {
        let tested = try await TestedLarder.start()
        let guest = try await tested.larder.guest()
        try await tested.sandbox.fault("hold")
        async let held = guest.send("GET", "/v1/ships", ["Accept-Language": "ru"])
        try await tested.sandbox.arrived(1)
        try await tested.reset()
        let response = try await held
        #expect(response.status == 503 && response.problemCode == "overloaded" && response["Content-Language"] == "ru")
        #expect(try response.json.dialog.message.string?.contains("состояние") == true, "\(response.text)")
        #expect(try await guest.get("/v1/ships").status == 401)
        let fresh = try await tested.larder.guest().get("/v1/ships")
        #expect(fresh.status == 200 && fresh["Cache-Status"]?.contains("fwd=uri-miss") == true)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-03 after a reset of the sandbox alone, Larder asks its upstreams again at the next read")
    func asksAgain() async throws {
        let never = ["--upstreams-spacex-probe-interval-ms", "3600000"]
        let tested = try await TestedLarder.start(["--freshness-ships-s", "0"] + never)
        let guest = try await tested.larder.guest()
        _ = try await guest.get("/v1/ships")
        try await tested.sandbox.fault("offline")
        #expect(try await guest.get("/v1/ships").json.meta.offline.bool == true)
        try await tested.sandbox.fault("error(503, 60)", of: "catalogue")
        _ = try await tested.client.get("/v1/shop/search")
        let before = try await tested.client.get("/v1/status").json.data.upstreams.elements
        #expect(before.contains { $0.reachable.bool == false } && before.contains { !$0.paused_until.isNull })

        #expect(try await tested.sandbox.control.send("POST", "/reset").status == 200)
        let response = try await guest.get("/v1/ships")
        #expect(try response.json.meta.offline.bool == false && response.json.meta.stale.bool == false)
        #expect(try await tested.client.get("/v1/shop/search").status == 200)
        let status = try await tested.client.get("/v1/status").json
        for row in status.data.upstreams.elements {
            #expect(row.reachable.bool == true && row.paused_until.isNull, "\(row)")
        }
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-04 under a frozen clock sessions have the same time, and the remaining freshness stays")
    func frozen() async throws {
        let tested = try await TestedLarder.start(["--freshness-ships-s", "60"])
        try await tested.freeze()
        let (one, two) = (try await tested.larder.guest(), try await tested.larder.guest())
        let times = [
            try await one.get("/v1/ships/session").json.data.created_at.string,
            try await two.get("/v1/ships/session").json.data.created_at.string,
        ]
        #expect(times == ["2030-01-05T10:00:00Z", "2030-01-05T10:00:00Z"])
        _ = try await one.get("/v1/ships")
        for _ in 0..<3 { #expect(try await one.get("/v1/ships")["Cache-Status"]?.contains("ttl=60") == true) }
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-04 the machine's time returns; sessions and data stay, and no upstream waits for the time before")
    func realTime() async throws {
        let tested = try await TestedLarder.start()
        let guest = try await tested.larder.guest()
        try await tested.advance(86_400)
        #expect(try await guest.get("/v1/status").json.data.test_time.string != nil)
        try await tested.sandbox.fault("offline")
        _ = try await guest.get("/v1/ships?refresh=1")
        let ended = try await tested.harness.send("DELETE", "/clock")
        #expect(try ended.status == 200 && ended.json.shifted.bool == false)
        #expect(try await guest.get("/v1/status").text.contains(#""test_time":null"#))
        let now = try #require(try ended.json.now.string)
        #expect(abs(try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(now).timeIntervalSinceNow) < 60)
        try await tested.sandbox.fault("online")
        let answer = try await guest.get("/v1/ships?refresh=1")
        #expect(try answer.status == 200 && answer.json.meta.offline.bool == false)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-05 moving the clock on makes copies stale and drafts expire, and sends the probe that is due")
    func advanced() async throws {
        let tested = try await TestedLarder.start(["--freshness-ships-s", "60"])
        try await tested.freeze()
        let guest = try await tested.larder.guest()
        _ = try await guest.get("/v1/ships")
        #expect(try await guest.get("/v1/ships")["Cache-Status"]?.contains("hit") == true)
        try await tested.advance(61)
        #expect(try await guest.get("/v1/ships")["Cache-Status"]?.contains("fwd=stale") == true)

        try await tested.sandbox.fault("offline")
        #expect(try await guest.get("/v1/ships?refresh=1").json.meta.offline.bool == true)
        try await tested.sandbox.fault("online")
        try await tested.advance(61)
        let rows = try await tested.client.get("/v1/status").json.data.upstreams.elements
        let spacex = try #require(rows.first { $0.name.string == "spacex" })
        #expect(spacex.reachable.bool == true)

        let draft = try await tested.client.document(of: [DocumentTests.photo])
        #expect(try await tested.client.get(draft).status == 200)
        try await tested.advance(86_401)
        #expect(try await tested.client.get(draft).status == 404)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("The controls refuse what they do not know, a step back, and pages from elsewhere; a sandbox alone has none")
    func refusals() async throws {
        let tested = try await TestedLarder.start()
        try await tested.freeze()
        for (method, path, body) in [
            ("POST", "/reset", #"{"larder":true}"#), ("PUT", "/clock", #"{"time":1}"#), ("PUT", "/clock", "{}"),
            ("PUT", "/clock", #"{"now":"noon"}"#), ("POST", "/clock/advance", #"{"s":-1}"#),
            ("POST", "/clock/advance", #"{"s":1,"ms":2}"#), ("POST", "/clock/advance", ""),
            ("PUT", "/clock", #"{"now":"99999-01-01T00:00:00Z"}"#),
            ("PUT", "/clock", #"{"now":"0000-01-01T00:00:00Z"}"#),
            ("POST", "/clock/advance", #"{"s":315360001}"#), ("POST", "/spaces", #"{"now":"10000-01-01T00:00:00Z"}"#),
        ] {
            let response = try await tested.harness.send(method, path, body: body)
            #expect(response.status == 400, "\(method) \(path) \(body): \(response.text)")
        }
        #expect(try await tested.harness.put("/clock", #"{"now":"2029-01-05T10:00:00Z"}"#).status == 409)
        #expect(try await tested.harness.put("/clock", #"{"now":"9999-12-31T23:59:50Z"}"#).status == 200)
        #expect(try await tested.harness.post("/clock/advance", #"{"s":10}"#).status == 409)
        #expect(try await tested.harness.post("/clock/advance", #"{"s":9.5}"#).status == 200)
        #expect(try await tested.harness.get("/reset").status == 405)
        #expect(try await tested.harness.get("/nothing").status == 404)
        for headers in [["Host": "evil.example"], ["Origin": "https://evil.example"]] {
            #expect(try await tested.harness.send("POST", "/reset", headers).status == 403)
        }
        #expect(await tested.larder.stop() == 0)
        let alone = try await RunningSandbox.start()
        #expect(try await alone.client.get("/_harness").status == 404)
        await alone.kill9()
    }

    @Test("With --harness alone there are the controls of Larder, and no simulated upstream")
    func alone() async throws {
        let larder = try await RunningLarder.start(["--harness"])
        let base = try await larder.process.line(after: "sandbox on ").replacing("/_sandbox", with: "")
        let port = Client(base: base)
        #expect(try await port.post("/_harness/reset", "").status == 204)
        #expect(try await port.get("/_sandbox").json.upstreams.elements.isEmpty)
        let status = try await larder.client.get("/v1/status").json.data
        #expect(status.sandbox.isNull && status.harness.base.string == "/v1/harness")
        #expect(try await port.get("/spacex/v4/ships").status == 404)
        #expect(await larder.stop() == 0)
    }

    @Test("HARN-08 --stop-with-stdin ends the server in order with its standard input")
    func standardInput() async throws {
        let data = try TemporaryFolder()
        let settings = ["--http-port", "0", "--data-directory", data.path]
        let process = RunningProcess(["serve", "--sandbox", "--stop-with-stdin"] + settings)
        #expect(await process.ended() == 0)
    }

    @Test("HARN-38 --matrix runs a command once for each condition, also after a reset, and prints screen by condition")
    func matrix() async throws {
        let script = """
            curl -s -o /dev/null -X POST $LARDER_SANDBOX_URL/_harness/reset || exit 9
            token=$(curl -s $LARDER_URL/v1/ships/session -d '{"mode":"guest"}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
            curl -s -o /dev/null "$LARDER_URL/v1/ships?refresh=1" -H "Authorization: Bearer $token"
            echo "ran under $LARDER_CONDITION"
            [ "$LARDER_CONDITION" != 500 ]
            """
        let process = RunningProcess(["exec", "--matrix", "offline,error(503, 9),401,500", "--", "sh", "-c", script])
        #expect(await process.ended() == 1)
        let text = process.output
        let lines = text.split(separator: "\n").map { $0.split(separator: "  ").map { $0.trimmingPrefix(" ") } }
        #expect(lines.contains(["screen", "offline", "error(503, 9)", "401", "500"]), "\(text)")
        #expect(lines.contains(["the whole suite", "passed", "passed", "passed", "failed (1)"]), "\(text)")
        let row = [
            "GET /v1/ships", "200 unreachable", "200 stale-if-error", "401 session-expired", "200 stale-if-error",
        ]
        #expect(lines.contains(row.map { Substring($0) }), "\(text)")
        #expect(text.contains("== 500: exit code 1\nran under 500\n") && !text.contains("ran under offline"))
        #expect(await RunningProcess(["exec", "--matrix", "offline,slowly", "--", "true"]).ended() == 64)
    }

    @Test("Coverage prints the responses of the contract that were met, and fails below its threshold")
    func coverage() async throws {
        let script = "curl -s -o /dev/null $LARDER_URL/v1/ships; curl -s -o /dev/null $LARDER_URL/v1/ships/launch"
        let process = RunningProcess(["exec", "--coverage", "1", "--", "sh", "-c", script])
        let code = await process.ended()
        let text = process.output
        #expect(code == 0 && text.contains("GET /v1/ships\n  met    401"), "\(text)")
        #expect(text.contains("responses of the contract") && !text.contains("/v1/notes"))
        #expect(await RunningProcess(["exec", "--coverage", "90", "--", "sh", "-c", script]).ended() == 1)
        for wrong in [["--coverage", "101"], ["--coverage=-1"], ["--spaces", "2", "--matrix", "offline"]] {
            #expect(await RunningProcess(["exec"] + wrong + ["--", "true"]).ended() == 64, "\(wrong)")
        }
    }

    @Test(
        "HARN-08 a signal to larder exec ends its command, also one that takes no notice of it",
        arguments: [(SIGTERM, ""), (SIGINT, ""), (SIGTERM, "trap '' TERM; ")]
    )
    func interrupted(number: Int32, trap: String) async throws {
        let script = "\(trap)echo process $$; while :; do sleep 600; done"
        let process = RunningProcess(["exec", "--http-stop-timeout-ms", "500", "--", "sh", "-c", script])
        let command = try #require(pid_t(try await process.line(after: "process ")))
        process.signal(number)
        let code = await process.ended()
        #expect(trap.isEmpty ? code == 128 + SIGTERM : code != 0)
        while kill(command, 0) == 0 { await Task.yield() }
    }

    @Test("HARN-08 a command runs with a server of its own, and its exit code is the program's")
    func executed() async throws {
        let script = """
            curl -sf -X POST "$LARDER_SANDBOX_URL/_harness/reset" &&
            curl -sf "$LARDER_URL/v1/status" | grep -o '"started_at":"[^"]*"' | sed 's/^/started: /' &&
            echo "served by $LARDER_URL"; sleep 600 & exit 7
            """
        let process = RunningProcess(["exec", "--", "sh", "-c", script])
        let start = try await process.line(after: #"started: "started_at":""#).dropLast()
        let url = try await process.line(after: "served by ")
        #expect(await process.ended() == 7)
        #expect(await Client(base: url).startOfServer() != String(start))
        #expect(await RunningProcess(["exec"]).ended() != 0)
    }
}

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

/// The controls beside their contract, openapi-sandbox.yaml, which the index of the controls is made of.
@Suite(.timeLimit(.minutes(3))) struct ControlContractTests {
    /// A call as the index has it.
    private struct Call {
        let method: String
        /// The path, with a name in place of each parameter.
        let path: String
        /// The names of the query.
        let query: Set<String>

        init(_ line: JSON) {
            let parts = (line.path.string ?? "").split(separator: "?")
            method = line.method.string ?? ""
            path = String(parts.first ?? "").replacing(/\{\w+\}/, with: "spacex")
            let items = parts.dropFirst().first?.split(separator: "&") ?? []
            query = Set(items.map { item in String(item.prefix { $0 != "=" }) })
        }
    }

    @Test("HARN-27 a path of the controls has the methods and the query that are described, and no other")
    func described() async throws {
        let tested = try await TestedLarder.start()
        let client = tested.sandbox.client
        let calls = try await client.get("/_sandbox").json.calls.elements.map { Call($0) }
        #expect(calls.contains { $0.path.hasPrefix("/_harness/") } && calls.contains { !$0.query.isEmpty })
        for (path, calls) in Dictionary(grouping: calls, by: \.path) {
            let response = try await client.send("PATCH", path, body: "{}")
            let methods = response["Allow"]?.split(separator: ", ").filter { $0 != "HEAD" }.map { String($0) } ?? []
            #expect(response.status == 405, "\(path)")
            #expect(methods.sorted() == calls.map(\.method).sorted(), "\(path)")
        }
        // A refusal of a query names those that are accepted. Without one, a control has no query.
        for call in calls where call.method == "GET" || !call.query.isEmpty {
            let refusal = try await client.send(call.method, "\(call.path)?none=1").json
            let names: Set<String> = refusal.field.string == "query" ? Set(refusal.accepted.strings) : []
            #expect(names.subtracting(["no query"]) == call.query, "\(call.method) \(call.path)")
        }
        #expect(await tested.larder.stop() == 0)
    }
}
