import Foundation
import TestKit
import Testing

/// Sessions by cookie through the real executable and its response cache.
@Suite(.timeLimit(.minutes(10))) struct CookieTests {
    private static func start(_ data: TemporaryFolder, _ sandbox: RunningSandbox) async throws -> RunningLarder {
        try await RunningLarder.start(data: data, upstream: sandbox.spacex, ["--freshness-ships-s", "3600"])
    }

    /// Opens a session and returns the fields that a browser sends from then on.
    private static func enter(_ client: Client) async throws -> [String: String] {
        let opened = try await client.send(
            "POST",
            "/v1/ships/session",
            ["Larder-Session": "cookie", "Origin": client.base],
            body: #"{"mode":"guest"}"#
        )
        let cookie = try #require(opened["Set-Cookie"])
        #expect(try opened.status == 201 && opened.json.data.token.string == nil)
        return ["Cookie": String(cookie.prefix { $0 != ";" }), "Sec-Fetch-Site": "same-origin"]
    }

    @Test("WEB-05 WEB-06 a logout by cookie ends the cached responses of its account, those of others stay")
    func logout() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await Self.start(data, sandbox)
        let client = larder.client
        let (anna, boris) = (try await Self.enter(client), try await Self.enter(client))
        let list = try await larder.cached(client, "/v1/ships", anna)
        let image = try #require(try list.json.data.items.elements.compactMap(\.image_url.string).first)
        _ = try await larder.cached(client, image, anna)
        _ = try await larder.cached(client, image, boris)
        // Other cookies of the host change nothing.
        let hits = try await larder.cachedResponses()
        for cookie in ["theme=dark; \(anna["Cookie"] ?? "")", "\(anna["Cookie"] ?? ""); sid=1"] {
            let shared = try await client.send("GET", image, anna.merging(["Cookie": cookie]) { $1 })
            #expect(shared.status == 200)
        }
        #expect(try await larder.cachedResponses() == hits + 2)
        let foreign = anna.merging(["Sec-Fetch-Site": "same-site"]) { $1 }
        #expect(try await client.send("GET", image, foreign).status == 401)

        let ended = try await client.send("DELETE", "/v1/ships/session", anna)
        #expect(ended.status == 200 && ended["Clear-Site-Data"] == #""cache""#)
        #expect(ended["Set-Cookie"]?.contains("Max-Age=0") == true)
        for path in [image, "/v1/ships"] { #expect(try await client.send("GET", path, anna).status == 401) }
        let before = try await larder.cachedResponses()
        #expect(try await client.send("GET", image, boris).status == 200)
        #expect(try await larder.cachedResponses() == before + 1)
    }

    @Test("WEB-05 a cookie opens its session after a restart, and none of another server on the host")
    func restart() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let first = try await Self.start(data, sandbox)
        let fields = try await Self.enter(first.client)
        #expect(await first.stop() == 0)
        let again = try await Self.start(data, sandbox)
        #expect(try await again.client.send("GET", "/v1/ships/session", fields).status == 200)
        let other = try await Self.start(try TemporaryFolder(), sandbox)
        let theirs = try await Self.enter(other.client)
        #expect(theirs["Cookie"]?.prefix { $0 != "=" } != fields["Cookie"]?.prefix { $0 != "=" })
        let both = theirs.merging(["Cookie": "\(fields["Cookie"] ?? ""); \(theirs["Cookie"] ?? "")"]) { $1 }
        for larder in [again, other] {
            #expect(try await larder.client.send("GET", "/v1/ships/session", both).status == 200)
        }
        #expect(try await other.client.send("GET", "/v1/ships/session", fields).status == 401)
    }
}
