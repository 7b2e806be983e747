import Foundation
import TestKit
import Testing

/// Foreign requests that must not get in, and secrets that must not get out.
@Suite(.timeLimit(.minutes(10))) struct SecurityTests {
    @Test("SRV-11 a foreign Host gets 403 and a problem, on every kind of route")
    func foreignHost() async throws {
        let larder = try await RunningLarder.start()
        for path in ["/v1", "/health/live", "/metrics", "/v1/ships", "/nowhere"] {
            let response = try await larder.client.get(path, ["Host": "rebound.example"])
            #expect(response.status == 403)
            #expect(try response.json.code.string == "host-not-allowed")
        }
        #expect(try await larder.client.get("/v1", ["Host": "localhost:1234"]).status == 200)
    }

    @Test("SRV-11 a page of a foreign origin cannot write; a listed one can, and may read the response")
    func foreignOrigin() async throws {
        let larder = try await RunningLarder.start(
            ["--http-allowed-origins", "https://app.example"]
        )
        let body = #"{"mode":"guest"}"#
        let foreign = try await larder.client.send(
            "POST",
            "/v1/ships/session",
            ["Origin": "https://evil.example"],
            body: body
        )
        #expect(foreign.status == 403)
        #expect(try foreign.json.code.string == "origin-not-allowed")
        #expect(foreign["Access-Control-Allow-Origin"] == nil)
        let listed = try await larder.client.send(
            "POST",
            "/v1/ships/session",
            ["Origin": "https://app.example"],
            body: body
        )
        #expect(listed.status == 201)
        #expect(listed["Access-Control-Allow-Origin"] == "https://app.example")
        #expect(listed["Vary"]?.contains("Origin") == true)
    }

    @Test("SRV-11 no token and no password is in the log or in clear in the data directory")
    func secrets() async throws {
        let data = try TemporaryFolder()
        let larder = try await RunningLarder.start(data: data, ["--log-level", "trace"])
        let login = #"{"mode":"login","username":"a@b.example","password":"correct horse"}"#
        let user = try await larder.client.session("ships", login)
        let token = try #require(user.token)
        #expect(try await user.get("/v1/ships/session?token=\(token)").status == 400)
        #expect(try await user.get("/v1/ships/session").status == 200)
        #expect(await larder.stop() == 0)
        for secret in [token, "correct horse"] {
            #expect(!larder.process.log.contains(secret))
            for file in try FileManager.default.subpathsOfDirectory(atPath: data.path) {
                let bytes = (try? Data(contentsOf: data.url.appending(path: file))) ?? Data()
                #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file)")
            }
        }
    }

    @Test("SRV-10 without --sandbox nothing of the sandbox is there")
    func noSandbox() async throws {
        let larder = try await RunningLarder.start()
        #expect(try await larder.client.get("/_sandbox").status == 404)
        #expect(try await larder.client.get("/spacex/v4/ships").status == 404)
    }

    @Test("SRV-10 serve --sandbox brings its own upstreams, with controls on an address of their own")
    func builtInSandbox() async throws {
        let larder = try await RunningLarder.start(["--sandbox"])
        let control = Client(base: try await larder.process.line(after: "sandbox on "))
        let guest = try await larder.guest()
        #expect(try await guest.get("/v1/ships").json.data.items.elements.count == 30)
        _ = try await control.put("/upstreams/spacex/fault", #"{"fault":"offline"}"#)
        #expect(try await guest.get("/v1/ships?refresh=1").json.meta.offline.bool == true)
        #expect(try await control.post("/reset", "{}").status == 200)
        #expect(try await guest.get("/v1/ships?refresh=1").json.meta.offline.bool == false)
        #expect(await larder.stop() == 0)
    }

    @Test("SRV-06 SRV-11 a body over the limit, malformed JSON, a wrong type: its problem; the next request is served")
    func badBodies() async throws {
        let larder = try await RunningLarder.start()
        let huge = #"{"mode":""# + String(repeating: "x", count: 1 << 20) + #""}"#
        let cases: [(String, Int, String)] = [
            (huge, 413, "too-large"), ("{", 400, "malformed-json"), ("", 400, "malformed-json"),
            ("[]", 400, "malformed-json"),
            (#"{"mode":7}"#, 422, "validation-failed"),
            (#"{"mode":"login","username":"a","password":""}"#, 422, "validation-failed"),
        ]
        for (body, status, code) in cases {
            let response = try await larder.client.post("/v1/ships/session", body)
            #expect(response.status == status)
            #expect(try response.json.code.string == code)
            #expect(response["Content-Type"]?.hasPrefix("application/problem+json") == true)
        }
        #expect(try await larder.client.get("/health/live").status == 200)
    }
}

/// Fields that Larder sends itself, or to itself, mean nothing in the mouth of an upstream.
@Suite(.timeLimit(.minutes(10))) struct ForgedFieldTests {
    private static let internalFields = ["larder-rendering", "larder-own-date", "larder-offline", "larder-anything"]

    @Test(
        "SRV-11 An upstream's fields with Larder's names have no effect and are not sent: fetched, stored or cached",
        arguments: ["max-age=600", "no-store"]
    )
    func forged(cacheControl: String) async throws {
        let response =
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nDate: Mon, 05 Jan 2026 10:00:00 GMT\r\n"
            + "Cache-Control: \(cacheControl)\r\nETag: \"a\"\r\nX-Own: yes\r\n"
            + "Larder-Rendering: 1\r\nlarder-rendering: 2\r\nLarder-Own-Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            + "LARDER-OFFLINE: ?1\r\nLarder-Anything: x\r\n\r\nbody"
        let upstream = try await RawServer(byPath: { _, _ in response })
        let larder = try await RunningLarder.start(upstream: upstream.url)
        for _ in 0..<4 {
            // A screen's response in between: a mark that was forged could name its note.
            #expect(try await larder.client.get("/v1").status == 200)
            let response = try await larder.client.get("/v1/upstreams/spacex/thing")
            #expect(response.status == 200 && response.text == "body" && response["X-Own"] == "yes")
            #expect(response["Date"] == "Mon, 05 Jan 2026 10:00:00 GMT")
            #expect(response["Cache-Status"]?.hasPrefix("larder; ") == true)
            for name in Self.internalFields { #expect(response[name] == nil, "\(name)") }
            let head = try await larder.client.send("HEAD", "/v1/upstreams/spacex/thing")
            for name in Self.internalFields { #expect(head[name] == nil, "\(name) of HEAD") }
        }
    }
}

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
