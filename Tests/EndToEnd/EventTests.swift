import Foundation
import TestKit
import Testing

/// Events and cached responses of one profile or session, in the real executable.
@Suite(.timeLimit(.minutes(10))) struct EventTests {
    private static func start() async throws -> (RunningLarder, RunningSandbox) {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await RunningLarder.start(
            data: data,
            upstream: sandbox.spacex,
            [
                "--upstreams-catalogue-url", sandbox.base + "/catalogue", "--freshness-shop-s", "3600",
                "--freshness-ships-s", "3600", "--upstreams-spacex-probe-interval-ms", "3600000",
            ]
        )
        return (larder, sandbox)
    }

    private static func profile(_ name: String) -> [String: String] { ["Larder-Profile": name] }

    @Test("TRUST-21 SRV-11 a change of one profile's list is sent to it only, and ends no cached screen of others")
    func profiles() async throws {
        let (larder, sandbox) = try await Self.start()
        let (client, url) = (larder.client, larder.client.base + "/v1/events")
        let guest = try await larder.guest()
        _ = try await guest.get("/v1/ships")
        #expect(try await client.send("GET", "/v1/shop/products/53", Self.profile("anna")).status == 200)
        let anna = try await EventListener.open(url, Self.profile("anna"))
        let bert = try await EventListener.open(url + "?profile=bert")
        let local = try await EventListener.open(url)
        let cached = [
            ("/v1/shop/list", Self.profile("bert")), ("/v1/shop/history", Self.profile("bert")), ("/v1/shop/list", [:]),
            ("/v1/shop/products/53", Self.profile("bert")), ("/v1/shop/categories", [:]), ("/v1", [:]),
        ]
        for (path, headers) in cached { _ = try await larder.cached(client, path, headers) }
        let mine = try await larder.cached(client, "/v1/shop/list", Self.profile("anna"))

        let body = #"{"product_id":53}"#
        #expect(try await client.send("POST", "/v1/shop/list/items", Self.profile("anna"), body: body).status == 201)
        for (path, headers) in cached {
            let hits = try await larder.cachedResponses()
            #expect(try await client.send("GET", path, headers).status == 200)
            #expect(try await larder.cachedResponses() == hits + 1, "\(path) \(headers)")
        }
        let changed = try await client.send("GET", "/v1/shop/list", Self.profile("anna"))
        #expect(try changed.body != mine.body && changed.json.data.items.elements.count == 1)

        // All receive the next event; `bert` and `local` have received none before.
        try await sandbox.fault("offline")
        _ = try await guest.get("/v1/ships?refresh=1")
        let heard = try #require(try await anna.next())
        #expect(heard.kind == "screen-changed" && heard.data.screen.string == "shop.list")
        for listener in [anna, bert, local] { #expect(try await listener.next()?.kind == "connectivity") }
    }

    @Test("SRV-11 TRUST-21 the stream of a session ends with it, the streams of others go on")
    func logout() async throws {
        let (larder, sandbox) = try await Self.start()
        let url = larder.client.base + "/v1/events?app=ships"
        let (leaving, staying) = (try await larder.guest(), try await larder.guest())
        let tokens = try [leaving, staying].map { ["Authorization": "Bearer \(try #require($0.token))"] }
        _ = try await staying.get("/v1/ships")
        let first = try await EventListener.open(url, tokens[0])
        let second = try await EventListener.open(url, tokens[1])
        #expect(try await leaving.delete("/v1/ships/session").status == 200)
        let last = try #require(try await first.next())
        #expect(last.kind == "session-ended" && last.data.app.string == "ships")
        #expect(try await first.next() == nil)
        #expect(try await larder.client.send("GET", "/v1/events", tokens[0]).status == 401)
        try await sandbox.fault("offline")
        _ = try await staying.get("/v1/ships?refresh=1")
        #expect(try await second.next()?.kind == "connectivity")
    }

    @Test("SCALE-13 fields that differ by client leave one cached screen; a token and a profile do not")
    func fields() async throws {
        let (larder, sandbox) = try await Self.start()
        defer { withExtendedLifetime(sandbox) {} }
        let guest = try await larder.guest()
        // On a busy machine the ships arrive after the patience, and invalidate the responses cached before.
        try await BoundedWait.poll(for: "the ships of the upstream") {
            try await guest.get("/v1/ships?refresh=1").json.meta.source.string == "upstream"
        }
        _ = try await larder.cached(guest, "/v1/ships")
        let before = try await larder.cachedResponses()
        for number in 0..<200 {
            let fields = [
                "X-Forwarded-For": "198.51.100.\(number)", "User-Agent": "client/\(number)", "Via": "1.1 \(number)",
                "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e\(4000 + number)-00f067aa0ba902b7-01",
            ]
            #expect(try await guest.send("GET", "/v1/ships", fields).status == 200)
        }
        #expect(try await larder.cachedResponses() == before + 200)
        #expect(try await larder.client.send("GET", "/v1/ships", ["X-Forwarded-For": "198.51.100.1"]).status == 401)
        #expect(try await larder.cachedResponses() == before + 200)
    }
}
