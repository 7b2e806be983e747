import Foundation
import TestKit
import Testing

/// The journal of a front end's requests, for the author of a test (docs/harness.md).
@Suite(.timeLimit(.minutes(3))) struct HarnessJournalTests {
    @Test("HARN-13 a request has one entry; the requests to upstreams that it causes carry its number and identity")
    func cause() async throws {
        let tested = try await TestedLarder.start()
        try await tested.reset()
        let guest = try await tested.larder.guest()
        #expect(try await guest.get("/v1/ships", ["X-Request-Id": "app-7"]).status == 200)
        let front = try await tested.harness.get("/journal?path=/v1/ships&request_id=app-7").json
        #expect(front.count.int == 1 && front.waiting.int == 0)
        let entry = front.entries[0]
        #expect(entry.method.string == "GET" && entry.status.int == 200 && entry.path.string == "/v1/ships")
        #expect(entry.headers.authorization.string?.contains("sha256:") == true)
        let sent = try await tested.sandbox.control.get("/journal?upstream=spacex").json.entries.elements
        #expect(!sent.isEmpty)
        for request in sent {
            #expect(request.cause.int == entry.sequence.int && request.request_id.string == "app-7", "\(request)")
        }
        // By the route that has caused them.
        _ = try await tested.client.get("/v1/shop/categories")
        for (route, upstream) in [("/v1/ships", "spacex"), ("GET%20/v1/shop/*", "catalogue")] {
            #expect(try await tested.harness.get("/journal?route=\(route)&count").json.count.int == 1, "\(route)")
            let caused = try await tested.sandbox.control.get("/journal?route=\(route)").json.entries.elements
            #expect(Set(caused.map(\.upstream.string)) == [upstream], "\(route)")
        }
        #expect(try await tested.sandbox.control.get("/journal?route=ships").status == 400)
        // A request without an identity gets one, by which it is found as well.
        let other = try await guest.get("/v1/ships")
        let identity = try #require(other["X-Request-ID"])
        #expect(try await tested.harness.get("/journal?request_id=\(identity)&count").json.count.int == 1)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-13 probes and the refresh of a recovery say that they are no client's")
    func background() async throws {
        let tested = try await TestedLarder.start(["--upstreams-spacex-probe-interval-ms", "3600000"])
        try await tested.reset()
        let guest = try await tested.larder.guest()
        _ = try await guest.get("/v1/ships")
        try await tested.sandbox.fault("offline")
        _ = try await guest.get("/v1/ships?refresh=1")
        try await tested.sandbox.fault("online")
        let sequence = try await tested.sandbox.control.get("/journal?upstream=spacex").json.entries.elements.count
        // No client waits: the time for the probe has come.
        try await tested.advance(7200)
        _ = try await tested.sandbox.control.get("/journal/wait?since=\(sequence)&count=2&timeout_ms=60000")
        let entries = try await tested.sandbox.control.get("/journal?since=\(sequence)").json.entries.elements
        #expect(entries.first?.cause.string == "probe")
        #expect(entries.dropFirst().allSatisfy { $0.cause.string == "refresh" })
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-14 the journal says how many clients wait for one request, exactly, so that its release needs no sleep")
    func waiting() async throws {
        let tested = try await TestedLarder.start()
        try await tested.reset()
        let guest = try await tested.larder.guest()
        try await tested.sandbox.fault("hold")
        let statuses = try await withThrowingTaskGroup(of: ReceivedResponse.self) { group in
            for _ in 0..<8 { group.addTask { try await guest.get("/v1/ships") } }
            try await tested.waiting(8)
            let now = try await tested.harness.get("/journal?path=/v1/ships&count").json
            #expect(now.waiting.int == 8)
            // The clients wait before the request of the first of them has arrived.
            _ = try await tested.sandbox.control.get("/journal/wait?timeout_ms=60000")
            #expect(try await tested.sandbox.journal().count == 1)
            try await tested.sandbox.fault("online")
            #expect(try await tested.sandbox.control.send("POST", "/upstreams/spacex/release").status == 200)
            return try await group.reduce(into: [String]()) { $0.append($1["Cache-Status"] ?? "") }
        }
        #expect(statuses.count(where: { $0.contains("collapsed") }) == 7)
        #expect(try await tested.harness.get("/journal?path=/v1/ships&count").json.waiting.int == 0)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-15 verify says whether as many requests match, or else which come nearest, with each difference")
    func verify() async throws {
        let tested = try await TestedLarder.start()
        try await tested.reset()
        let guest = try await tested.larder.guest()
        _ = try await guest.get("/v1/ships?limit=5")
        _ = try await tested.client.get("/v1/notes")
        let once = #"{"match":{"method":"GET","path":"/v1/ships","query":{"limit":"5"}},"status":200,"exactly":1}"#
        #expect(try await tested.harness.post("/verify", once).json.matched.int == 1)
        let upstream = #"{"match":{"path":"/v4/ships"},"upstream":"spacex","at_least":1}"#
        #expect(try await tested.harness.post("/verify", upstream).status == 200)

        let missed = try await tested.harness.post(
            "/verify",
            #"{"match":{"method":"GET","path":"/v1/ships","query":{"limit":"6"}},"exactly":1}"#
        )
        #expect(missed.status == 417 && missed.problemCode == "not-verified")
        let nearest = try missed.json.near_misses[0]
        #expect(nearest.entry.path.string == "/v1/ships?limit=5")
        #expect(nearest.differences.elements.count == 1)
        #expect(nearest.differences[0].field.string == "query.limit" && nearest.differences[0].actual.string == "5")
        let twice = try await tested.harness.post("/verify", once.replacing(#""exactly":1"#, with: #""exactly":2"#))
        #expect(try twice.status == 417 && twice.json.matching[0].path.string == "/v1/ships?limit=5")
        for body in ["{}", #"{"match":{"paht":"/"}}"#, #"{"match":{},"exactly":1,"at_most":2}"#] {
            #expect(try await tested.harness.post("/verify", body).status == 400, "\(body)")
        }
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-34 verify compares bodies, whole paths and routes; what could not match, or cannot be told, is refused")
    func honest() async throws {
        let tested = try await TestedLarder.start()
        try await tested.reset()
        let guest = try await tested.larder.guest()
        let ships = try await guest.get("/v1/ships").json.data.items
        _ = try await guest.get("/v1/ships/\(try #require(ships[0].id.string))")
        _ = try await tested.client.post("/v1/shop/list/items", #"{"product_id":5,"quantity":2}"#)
        // A refused write is one, with its body.
        let refusal = #"{"route":"POST /v1/shop/list/items","fault":"error(401)","times":1}"#
        #expect(try await tested.harness.put("/front/fault", refusal).status == 200)
        #expect(try await tested.client.post("/v1/shop/list/items", #"{"product_id":6}"#).status == 401)
        func verify(_ match: String, _ rest: String = #""exactly":1"#) async throws -> Int {
            try await tested.harness.post("/verify", #"{"match":\#(match),\#(rest)}"#).status
        }
        for match in [
            #"{"body":{"product_id":5}}"#, #"{"body":{"product_id":6}}"#, #"{"body":"quantity"}"#,
            #"{"path":"/v1/ships"}"#,
            #"{"route":"GET /v1/ships/{id}"}"#, #"{"route":"/v1/ships"}"#, #"{"method":"get","path":"/v1/ships"}"#,
            #"{"body":{"mode":"guest"}}"#,
        ] {
            #expect(try await verify(match) == 200, "\(match)")
            #expect(try await verify(match, #""exactly":0"#) == 417, "\(match)")
        }
        #expect(try await verify(#"{"path":"/v1/ships/**","method":"GET"}"#, #""exactly":2"#) == 200)
        #expect(try await verify(#"{"path":"/spacex/v4/ships"}"#, #""upstream":"spacex","exactly":1"#) == 200)
        #expect(try await verify(#"{"route":"GET /v4/ships"}"#, #""upstream":"spacex","exactly":1"#) == 200)
        let wrong = [
            #"{"path":"/v1/shps"}"#, #"{"route":"GET /v1/shps"}"#, #"{"method":"GTE"}"#, #"{"path":"/v1/ships?a=1"}"#,
        ]
        for match in wrong { #expect(try await verify(match, #""exactly":0"#) == 400, "\(match)") }
        // A client has asked for a path that there is not.
        _ = try await tested.client.get("/v1/shps")
        #expect(try await verify(#"{"path":"/v1/shps"}"#) == 200)
        // Of a long body only the beginning is known.
        let long = "{\"q\":\"\(String(repeating: "x", count: 66_000))\"}"
        _ = try await tested.client.post("/v1/notes/session", long)
        #expect(try await verify(#"{"body":"needle"}"#, #""exactly":0"#) == 409)
        #expect(try await verify(#"{"body":"xxx"}"#) == 200)
        #expect(try await tested.harness.get("/journal?count&route=GET+/v1/ships").json.count.int == 1)
        #expect(try await tested.harness.get("/journal?count&method=get&path=/v1/ships").json.dropped.int == 0)
        #expect(try await tested.sandbox.control.get("/journal?count&path=/v4/ships").json.count.int == 1)
        #expect(try await tested.sandbox.control.get("/journal/wait?route=/v1/ships&timeout_ms=60000").status == 200)
        #expect(await tested.larder.stop() == 0)
    }
}
