import Foundation
import TestKit
import Testing

/// The upstream's own API through the real executable and its sandbox.
@Suite(.timeLimit(.minutes(10))) struct MountTests {
    static let ships = "/v1/upstreams/spacex/v4/ships"

    @Test("SRV-07 A mount sends the upstream's bytes, then those of its store with age and life, by range, HEAD, ETag")
    func throughTheCache() async throws {
        let sandbox = try await RunningSandbox.start()
        let larder = try await RunningLarder.start(upstream: sandbox.spacex)
        let direct = try await Client(base: sandbox.spacex).get("/v4/ships")
        let first = try await larder.client.get(Self.ships)
        #expect(first.status == 200 && first.body == direct.body)
        #expect(first["Cache-Status"] == "larder; fwd=uri-miss; stored")
        #expect(
            first["ETag"] == direct["ETag"] && first["Cache-Control"] == direct["Cache-Control"]
                && first["X-Request-Id"] != nil
        )
        let second = try await larder.client.get(Self.ships)
        #expect(second.body == direct.body && second["Age"].flatMap { Int($0) } != nil)
        #expect(second["Cache-Status"]?.wholeMatch(of: /larder; hit; ttl=(29[0-9]|300)/) != nil)
        #expect(second["Date"] == first["Date"], "the Date is the origin's")
        let part = try await larder.client.get(Self.ships, ["Range": "bytes=0-9"])
        #expect(part.status == 206 && part.body == direct.body.prefix(10))
        let head = try await larder.client.send("HEAD", Self.ships)
        #expect(head.status == 200 && head.body.isEmpty && head["Content-Length"] == String(direct.body.count))
        let tag = try #require(first["ETag"])
        #expect(try await larder.client.get(Self.ships, ["If-None-Match": tag]).status == 304)
        let fresh = try await larder.client.get(Self.ships, ["Cache-Control": "no-cache"])
        #expect(fresh["Cache-Status"] == "larder; fwd=request; fwd-status=304" && fresh.body == direct.body)
        #expect(try await sandbox.journal().filter { $0 == "/spacex/v4/ships" }.count == 3)
    }

    @Test("SRV-07 Interim responses of the upstream pass to the client that waits for it, without words for its origin")
    func interim() async throws {
        let link = "\r\nLink: </a.css>; rel=preload\r\n"
        let hints = "HTTP/1.1 103 Early Hints\(link)Clear-Site-Data: *\r\nLarder-A: 1\r\n\r\n"
        let json = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\n[]"
        let upstream = try await RawServer(byPath: { _, _ in "HTTP/1.1 102 Processing\r\n\r\n" + hints + json })
        let larder = try await RunningLarder.start(upstream: upstream.url)
        let request = "GET /v1/upstreams/spacex/a HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try await RawClient.connect(port: larder.client.port) { client in
            try await client.send(request)
            #expect(try await client.receive(until: "\r\n\r\n") == "HTTP/1.1 102 Processing\r\n\r\n")
            let early = try await client.receive(until: "\r\n\r\n")
            #expect(early.hasPrefix("HTTP/1.1 103 ") && early.hasSuffix(link + "\r\n"))
            let fetched = try await client.receive(until: "[]")
            #expect(fetched.hasPrefix("HTTP/1.1 200 OK\r\n") && !fetched.contains("Link:"))
            try await client.send(request)
            #expect(try await client.receive(until: "[]").hasPrefix("HTTP/1.1 200 OK\r\n"), "none is stored")
        }
        #expect(await larder.stop() == 0)
    }

    @Test("SRV-11 An upstream that lets every page read its responses does not let them read here")
    func otherOrigins() async throws {
        let sandbox = try await RunningSandbox.start()
        let settings = ["--http-allowed-origins", "https://app.example"]
        let larder = try await RunningLarder.start(upstream: sandbox.spacex, settings)
        #expect(try await Client(base: sandbox.spacex).get("/v4/ships")["Access-Control-Allow-Origin"] == "*")
        for _ in 1...2 {
            #expect(
                try await larder.client.get(Self.ships, ["Origin": "https://evil.example"])[
                    "Access-Control-Allow-Origin"
                ] == nil
            )
            #expect(
                try await larder.client.get(Self.ships, ["Origin": "https://app.example"])[
                    "Access-Control-Allow-Origin"
                ] == "https://app.example"
            )
        }
    }

    @Test("SRV-04 SRV-07 The last good response outlives kill -9 and the upstream, flagged")
    func offline() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let first = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        let online = try await first.client.get(Self.ships)
        await first.kill9()
        await sandbox.kill9()
        let second = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        let offline = try await second.client.get(Self.ships, ["Cache-Control": "no-cache"])
        #expect(offline.status == 200 && offline.body == online.body)
        #expect(
            offline["Larder-Offline"] == "?1" && offline["Cache-Status"] == "larder; fwd=request; detail=unreachable"
        )
        let never = try await second.client.get("/v1/upstreams/spacex/v4/never")
        #expect(never.status == 503)
        #expect(try never.json.code.string == "upstream-unavailable")
    }

    @Test("SRV-07 A POST passes where configured and is not cached; elsewhere it is 405; an unknown upstream is 404")
    func methods() async throws {
        let sandbox = try await RunningSandbox.start()
        let settings = ["--upstreams-spacex-methods", "GET,HEAD,POST", "--upstreams-other-api-url", sandbox.spacex]
        let larder = try await RunningLarder.start(
            upstream: sandbox.spacex,
            settings,
            environment: [
                "LARDER_UPSTREAMS_THIRD_1_URL": sandbox.spacex, "LARDER_UPSTREAMS_THIRD_1_LAST_GOOD": "false",
            ]
        )
        for _ in 0..<2 {
            let query = try await larder.client.post(
                "/v1/upstreams/spacex/v4/ships/query",
                #"{"query":{},"options":{"limit":2}}"#
            )
            #expect(query.status == 200 && query["Cache-Status"] == "larder; fwd=method")
            #expect(try query.json.docs.elements.count == 2)
        }
        let refused = try await larder.client.delete(Self.ships)
        #expect(refused.status == 405 && refused["Allow"] == "GET, HEAD, POST, OPTIONS")
        #expect(try await larder.client.post("/v1/upstreams/other_api/v4/ships/query", "{}").status == 405)
        for name in ["other_api", "third_1"] {
            #expect(try await larder.client.get("/v1/upstreams/\(name)/v4/ships").status == 200)
        }
        let unknown = try await larder.client.get("/v1/upstreams/nobody/v4/ships")
        #expect(unknown.status == 404)
        #expect(try unknown.json.code.string == "not-found")
    }

    @Test("SRV-11 A token of Larder's own sessions never reaches an upstream, not even one that is given credentials")
    func ownToken() async throws {
        let sandbox = try await RunningSandbox.start()
        let larder = try await RunningLarder.start(upstream: sandbox.spacex, ["--upstreams-spacex-shared", "false"])
        let guest = try await larder.guest()
        #expect(try await guest.get(Self.ships).status == 200)
        #expect(try await larder.client.get(Self.ships, ["Authorization": "Bearer another"]).status == 200)
        // The journal shows a credential only as the beginning of its hash: the same credential sent directly tells
        // which hash that is.
        _ = try await Client(base: sandbox.spacex).get("/v4/ships", ["Authorization": "Bearer another"])
        let entries = try await sandbox.control.get("/journal?upstream=spacex").json.entries.elements.filter {
            $0.path.string == "/spacex/v4/ships"
        }
        let credentials = entries.map(\.headers.authorization.string)
        #expect(credentials.count == 3 && credentials[0] == nil)
        #expect(credentials[1] != nil && credentials[1] == credentials[2])
    }

    @Test("TRUST-17 X-Request-Id and traceparent go along to the upstream's journal, from screens and mounts")
    func traces() async throws {
        let sandbox = try await RunningSandbox.start()
        let larder = try await RunningLarder.start(upstream: sandbox.spacex)
        let guest = try await larder.guest()
        let trace = "0af7651916cd43dd8448eb211c80319c"
        for (id, path) in [("screen-1", "/v1/ships?refresh=1"), ("mount-1", "/v1/upstreams/spacex/v4/ships")] {
            let fields = [
                "X-Request-Id": id, "traceparent": "00-\(trace)-b7ad6b7169203331-01", "Cache-Control": "no-cache",
            ]
            #expect(try await guest.get(path, fields).status == 200)
            let entries = try await sandbox.control.get("/journal?upstream=spacex").json.entries.elements
            let headers = try #require(entries.last).headers
            #expect(headers[dynamicMember: "x-request-id"].string == id)
            let parent = try #require(headers.traceparent.string)
            #expect(parent.hasPrefix("00-\(trace)-") && !parent.contains("b7ad6b7169203331"))
        }
        #expect(larder.process.log.contains("trace_id=\(trace)"))
    }
}
