import Foundation
import TestKit
import Testing

/// Answers that are kept as they went out, through the real executable: as good as new ones, and gone when they are
/// not.
@Suite(.timeLimit(.minutes(10))) struct CachedBytesTests {
    private struct Started {
        let sandbox: RunningSandbox
        let larder: RunningLarder

        /// Number of responses that were sent ahead of the router.
        func hits() async throws -> Int { try await larder.cachedResponses() }

        /// Asks until the response is a kept one.
        func kept(_ client: Client, _ path: String, _ headers: [String: String] = [:], method: String = "GET")
            async throws -> ReceivedResponse
        {
            try await larder.cached(client, path, headers, method: method)
        }
    }

    private static func start(_ settings: [String] = []) async throws -> Started {
        let sandbox = try await RunningSandbox.start()
        let larder = try await RunningLarder.start(
            upstream: sandbox.spacex,
            ["--freshness-ships-s", "3600"] + settings
        )
        return Started(sandbox: sandbox, larder: larder)
    }

    /// Fields of a request that always reaches the router.
    private static let routed = ["TE": "trailers", "X-Request-Id": "own"]
    private static let changing: Set = ["date", "x-request-id", "age", "cache-status"]

    private static func fields(_ response: ReceivedResponse) -> Set<String> {
        Set(response.headers.filter { !changing.contains($0.key) }.map { "\($0.key): \($0.value)" })
    }

    @Test("SRV-05 SRV-06 a cached response is the router's: plain, gzip, 304, HEAD, list, details, index and launch")
    func same() async throws {
        let started = try await Self.start()
        var guest = try await started.larder.guest()
        let id = try #require(try await guest.get("/v1/ships").json.data.items[0].id.string)
        let tag = try #require(try await guest.get("/v1/ships/\(id)")["ETag"])
        let questions: [(method: String, path: String, headers: [String: String], status: Int)] = [
            ("GET", "/v1/ships?limit=3", [:], 200), ("GET", "/v1/ships?limit=20", ["Accept-Encoding": "gzip"], 200),
            ("HEAD", "/v1/ships?limit=3", [:], 200), ("GET", "/v1/ships/\(id)", [:], 200),
            ("GET", "/v1/ships/\(id)", ["If-None-Match": tag], 304), ("GET", "/v1", [:], 200),
            ("GET", "/v1/ships/launch", [:], 200),
        ]
        for question in questions {
            let kept = try await started.kept(guest, question.path, question.headers, method: question.method)
            let hits = try await started.hits()
            let headers = question.headers.merging(Self.routed) { own, _ in own }
            let routed = try await guest.send(question.method, question.path, headers)
            #expect(try await started.hits() == hits && routed["X-Request-Id"] == "own")
            #expect(kept.status == question.status && routed.status == question.status)
            #expect(Self.fields(kept) == Self.fields(routed) && kept.body == routed.body)
            #expect(Set(kept.headers.keys) == Set(routed.headers.keys))
            #expect(kept["X-Request-Id"] != nil && kept["Date"] != nil && kept["ETag"] != nil)
            let mine = question.headers.merging(["X-Request-Id": "mine-7"]) { own, _ in own }
            let hit = try await started.kept(guest, question.path, mine, method: question.method)
            #expect(hit["X-Request-Id"] == "mine-7" && hit.body == kept.body && Self.fields(hit) == Self.fields(kept))
            #expect(kept["Cache-Status"]?.prefix { $0 != "=" } == routed["Cache-Status"]?.prefix { $0 != "=" })
            #expect(kept.body.isEmpty == (question.method == "HEAD" || question.status == 304))
            #expect((kept["Content-Encoding"] == "gzip") == (question.headers["Accept-Encoding"] == "gzip"))
        }
        guest.token = nil
        #expect(try await guest.get("/v1/ships?limit=3").status == 401)
    }

    @Test("SHIP-04 a cached picture is the router's: whole, HEAD and 304; not after logout")
    func picture() async throws {
        let started = try await Self.start()
        let guest = try await started.larder.guest()
        let items = try await guest.get("/v1/ships").json.data.items.elements
        let path = try #require(items.compactMap(\.image_url.string).first)
        let fetched = try await guest.get(path)
        #expect(
            fetched.status == 200 && fetched["Content-Type"]?.hasPrefix("image/") == true
                && fetched["Cache-Control"] == "private, no-cache"
        )
        let tag = try #require(fetched["ETag"])
        for (method, headers, status) in [("GET", [:], 200), ("HEAD", [:], 200), ("GET", ["If-None-Match": tag], 304)] {
            let kept = try await started.kept(guest, path, headers, method: method)
            let routed = try await guest.send(method, path, headers.merging(Self.routed) { own, _ in own })
            #expect(kept.status == status && routed.status == status)
            #expect(kept.body == (method == "GET" && status == 200 ? fetched.body : Data()) && kept.body == routed.body)
            #expect(Self.fields(kept) == Self.fields(routed) && kept["ETag"] == tag)
            #expect(kept["Content-Length"] == (status == 304 ? nil : String(fetched.body.count)))
        }
        #expect(try await guest.delete("/v1/ships/session").status == 200)
        #expect(try await guest.get(path).status == 401)
    }

    @Test("SRV-07 a cached response of a mount is the store's, with the origin's Date, until there is a newer one")
    func mount() async throws {
        let started = try await Self.start()
        let client = started.larder.client
        let first = try await client.get(MountTests.ships)
        let tag = try #require(first["ETag"])
        let questions: [(method: String, headers: [String: String], status: Int)] = [
            ("GET", [:], 200), ("GET", ["Range": "bytes=0-9"], 206), ("HEAD", [:], 200),
            ("GET", ["If-None-Match": tag], 304),
        ]
        for (method, headers, status) in questions {
            let kept = try await started.kept(client, MountTests.ships, headers, method: method)
            let hits = try await started.hits()
            let routed = try await client.send(method, MountTests.ships, headers.merging(Self.routed) { own, _ in own })
            #expect(try await started.hits() == hits && kept.status == status && routed.status == status)
            #expect(kept.body == routed.body && Self.fields(kept) == Self.fields(routed))
            #expect(kept["Date"] == first["Date"] && routed["Date"] == first["Date"])
            let lifetime = kept["Cache-Status"]?.wholeMatch(of: /larder; hit; ttl=(\d+)/).flatMap { Int($0.1) }
            #expect(kept["Age"].flatMap { Int($0) } != nil)
            #expect((1...300).contains(lifetime ?? 0))
        }
        _ = try await started.sandbox.control.put(
            "/spacex/ships/70ca451a41196adb40260072",
            #"{"name":"Renamed Meanwhile"}"#
        )
        #expect(try await started.kept(client, MountTests.ships).body == first.body)
        let reloaded = try await client.get(MountTests.ships, ["Cache-Control": "no-cache"])
        #expect(reloaded.text.contains("Renamed Meanwhile"))
        #expect(try await client.get(MountTests.ships).body == reloaded.body)
        #expect(try await started.kept(client, MountTests.ships).body == reloaded.body)
    }

    @Test("without a budget nothing is cached, and every request is served")
    func switchedOff() async throws {
        let started = try await Self.start(["--rendered-budget-mb", "0"])
        for _ in 0..<5 { #expect(try await started.larder.client.get("/v1").status == 200) }
        #expect(try await started.hits() == 0)
    }

    @Test("SRV-05 a deletion is seen at once by its account and no other; a restoration likewise")
    func writes() async throws {
        let started = try await Self.start()
        let (one, two) = (try await started.larder.guest(), try await started.larder.guest())
        let before = try await started.kept(one, "/v1/ships").json
        let others = try await started.kept(two, "/v1/ships").body
        let id = try #require(before.data.items[0].id.string)
        for _ in 0..<5 {
            _ = try await started.kept(one, "/v1/ships/\(id)")
            #expect(try await one.delete("/v1/ships/\(id)").status == 200)
            #expect(try await one.get("/v1/ships").json.data.items.elements.count == 29)
            #expect(try await one.get("/v1/ships/\(id)").status == 404)
            #expect(try await two.get("/v1/ships").body == others)
            _ = try await started.kept(one, "/v1/ships")
            #expect(try await one.post("/v1/ships/restore", "{}").status == 200)
            #expect(try await one.get("/v1/ships").json.data.items.elements.count == 30)
            _ = try await started.kept(one, "/v1/ships")
        }
    }

    @Test("SRV-11 responses cached for a session are not sent once it has ended")
    func logout() async throws {
        let started = try await Self.start()
        let guest = try await started.larder.guest()
        let paths = ["/v1/ships", "/v1/ships/session", "/v1/ships?limit=1"]
        for path in paths { #expect(try await started.kept(guest, path).status == 200) }
        #expect(try await guest.delete("/v1/ships/session").status == 200)
        for path in paths { #expect(try await guest.get(path).status == 401) }
    }

    @Test("SRV-05 an upstream that goes down and recovers flips the banner at once, with or without cached responses")
    func connectivity() async throws {
        // No probe runs meanwhile: requests of clients change the banner.
        let started = try await Self.start(["--upstreams-spacex-probe-interval-ms", "3600000"])
        let guest = try await started.larder.guest()
        #expect(try await started.kept(guest, "/v1/ships").json.meta.offline.bool == false)
        try await started.sandbox.fault("offline")
        _ = try await guest.get("/v1/ships?refresh=1")
        let offline = try await guest.get("/v1/ships")
        #expect(try offline.json.meta.banner.code.string == "offline")
        let kept = try await started.kept(guest, "/v1/ships")
        #expect(kept["Cache-Status"]?.hasSuffix("detail=offline") == true && kept["Age"] != nil)
        #expect(kept.body == offline.body)
        try await started.sandbox.fault("online")
        _ = try await guest.get("/v1/ships?refresh=1")
        let online = try await guest.get("/v1/ships").json
        #expect(online.meta.offline.bool == false && online.meta.banner.isNull)
    }

    @Test("SRV-05 a cached response ends with its freshness: the upstream is requested, and its changes are shown")
    func freshness() async throws {
        let started = try await Self.start(["--freshness-ships-s", "1"])
        let guest = try await started.larder.guest()
        _ = try await guest.get("/v1/ships")
        _ = try await started.sandbox.control.put(
            "/spacex/ships/70ca451a41196adb40260072",
            #"{"name":"Renamed Meanwhile"}"#
        )
        while true {
            let response = try await guest.get("/v1/ships")
            let isNew = try response.json.data.items.elements.contains { $0.name.string == "Renamed Meanwhile" }
            if response["Cache-Status"]?.hasPrefix("larder; hit; ttl=") == true, !isNew {
                #expect(["0", "1"].contains(try #require(response["Age"])))
                continue
            }
            #expect(isNew)
            break
        }
    }
}
