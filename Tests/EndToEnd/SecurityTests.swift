import Foundation
import TestKit
import Testing

/// Foreign requests that must not get in, and secrets that must not get out.
@Suite(.timeLimit(.minutes(10))) struct SecurityTests {
    @Test("SRV-11 a foreign Host gets 403 and a problem, on every kind of route")
    func foreignHost() async throws {
        let larder = try await RunningLarder.start(data: try TemporaryFolder())
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
            data: try TemporaryFolder(),
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
        var user = larder.client
        let login = try await user.post(
            "/v1/ships/session",
            #"{"mode":"login","username":"a@b.example","password":"correct horse"}"#
        )
        let token = try #require(try login.json.data.token.string)
        user.token = token
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
        let larder = try await RunningLarder.start(data: try TemporaryFolder())
        #expect(try await larder.client.get("/_sandbox").status == 404)
        #expect(try await larder.client.get("/spacex/v4/ships").status == 404)
    }

    @Test("SRV-10 serve --sandbox brings its own upstreams, with controls on an address of their own")
    func builtInSandbox() async throws {
        let larder = try await RunningLarder.start(data: try TemporaryFolder(), ["--sandbox"])
        let control = Client(base: try await larder.process.line(after: "sandbox on "))
        let guest = try await larder.guest()
        #expect(try await guest.get("/v1/ships").json.data.items.elements.count == 30)
        _ = try await control.put("/upstreams/spacex/fault", #"{"fault":"offline"}"#)
        #expect(try await guest.get("/v1/ships?refresh=1").json.meta.offline.bool == true)
        #expect(try await control.post("/reset", "{}").status == 200)
        #expect(try await guest.get("/v1/ships?refresh=1").json.meta.offline.bool == false)
        #expect(await larder.stop() == 0)
    }

    @Test(
        "SRV-06 SRV-11 a body over the limit, malformed JSON, a wrong type: its problem, and the next request is served"
    )
    func badBodies() async throws {
        let larder = try await RunningLarder.start(data: try TemporaryFolder())
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
