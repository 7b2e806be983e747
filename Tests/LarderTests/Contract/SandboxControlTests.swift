import Logging
import Sandbox
import TestKit
import Testing

/// `/v1/sandbox`: the controls of the sandbox through the server.
@Suite("Controls of the sandbox through the server")
struct SandboxControlTests {
    private static let json = ["Content-Type": "application/json"]
    private static let fault = "/v1/sandbox/upstreams/spacex/fault"

    @Test("WEB-27 A fault that is set through the server holds, is announced at once, and goes with a reset")
    func fault() async throws {
        try await withLarder { larder in
            let status = try await larder.send("GET", "/v1/status").json
            #expect(status.at(pointer: "/data/sandbox/base") == .string("/v1/sandbox"))
            let before = try await larder.send("GET", Self.fault).text
            let index = try await larder.send("GET", "/v1/sandbox")
            #expect(index.status == 200 && index.headers["cache-control"] == "no-store")
            let body = #"{"fault":"offline"}"#
            let heard = try await larder.listen { text in
                if text.isEmpty { return false }
                if !text.contains("connectivity") {
                    _ = try await larder.send("PUT", Self.fault, Self.json, body: body)
                }
                return text.contains("connectivity")
            }
            #expect(heard.text.contains(#""upstream":"spacex""#) && heard.text.contains(#""reachable":false"#))
            #expect(try await larder.send("POST", "/v1/sandbox/reset").status == 200)
            #expect(try await larder.send("GET", Self.fault).text == before)
        }
    }

    @Test("WEB-27 Without its sandbox, a server has no controls and says so")
    func withoutSandbox() async throws {
        try await withLarder(withControls: false) { larder in
            let status = try await larder.send("GET", "/v1/status").json
            #expect(status.at(pointer: "/data/sandbox") == .null && status.at(pointer: "/data/harness") == .null)
            for path in ["/v1/sandbox", "/v1/sandbox/journal", Self.fault, "/v1/harness", "/v1/harness/clock"] {
                let response = try await larder.send("GET", path)
                #expect(response.status == 404, "\(path)")
            }
            let reset = try await larder.send("POST", "/v1/sandbox/reset")
            #expect(reset.status == 404)
        }
    }

    @Test("Clients on other machines have no controls")
    func remote() async throws {
        try await withLarder(["--http-trusted-proxies", "127.0.0.1"]) { larder in
            for (client, status) in [("203.0.113.9", 404), ("2001:db8::1", 404), ("127.0.0.2", 200), ("::1", 200)] {
                let response = try await larder.send("GET", "/v1/sandbox", ["X-Forwarded-For": client])
                #expect(response.status == status, "\(client)")
                // The sandbox of these tests has no harness, which only the text tells from a refusal.
                let harness = try await larder.send("GET", "/v1/harness", ["X-Forwarded-For": client])
                #expect(harness.text.contains("own machine") == (status == 404), "\(client)")
            }
        }
    }

    @Test("TRUST-20 No page of another origin, no other host and no GET changes anything; nothing else is reached")
    func guards() async throws {
        try await withLarder { larder in
            let body = #"{"fault":"offline"}"#
            let foreign = Self.json.merging(["Origin": "https://evil.example"]) { own, _ in own }
            #expect(try await larder.send("PUT", Self.fault, foreign, body: body).problemCode == "origin-not-allowed")
            #expect(try await larder.send("POST", "/v1/sandbox/reset", foreign).problemCode == "origin-not-allowed")
            let reset = try await larder.send("POST", "/v1/harness/reset", foreign)
            #expect(reset.problemCode == "origin-not-allowed")
            let host = ["Host": "evil.example"]
            #expect(try await larder.send("GET", "/v1/sandbox", host).problemCode == "host-not-allowed")
            let before = try await larder.send("GET", Self.fault).text
            let calls = [
                "reset", "journal", "upstreams/spacex/release", "upstreams/spacex/fault?fault=offline",
                "catalogue/generated",
            ]
            for path in calls {
                _ = try await larder.send("GET", "/v1/sandbox/\(path)")
                _ = try await larder.send("HEAD", "/v1/sandbox/\(path)")
            }
            #expect(try await larder.send("GET", Self.fault).text == before)
            let outside = ["/v1/sandbox/../spacex/v4/ships", "/v1/harness/%2e%2e/spacex/v4/ships"]
            for path in outside {
                let response = try await larder.raw(
                    "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(larder.port)\r\nConnection: close\r\n\r\n"
                )
                #expect(response.status == 400, "\(path)")
            }
            #expect(try await larder.send("PATCH", Self.fault, Self.json, body: body).status == 405)
        }
    }

    @Test("HARN-11 Sandbox-Fault of a request to a route reaches exactly the requests to upstreams that it causes")
    func faultOfRequest() async throws {
        try await withLarder { larder in
            let search = "/v1/shop/search?limit=100&refresh=1"
            let fields = ["Sandbox-Fault": "error(500)", "X-Request-Id": "faulty"]
            let failed = try await larder.send("GET", search, fields)
            #expect(failed.status >= 500)
            let fine = try await larder.send("GET", search, ["X-Request-Id": "fine"])
            #expect(fine.status == 200)
            for (identity, fault) in [("faulty", "error(500)"), ("fine", "online")] {
                let journal = try await larder.control("GET", "/journal?request_id=\(identity)").json
                let faults = Set(journal.entries.elements.map(\.fault.string))
                #expect(faults == [fault], "\(identity)")
            }
        }
    }

    @Test("HARN-11 An upstream that the server does not simulate gets no Sandbox-Fault")
    func faultOfAnotherUpstream() async throws {
        var logger = Logger(label: "another")
        logger.logLevel = .critical
        let another = Sandbox(configuration: .init(), logger: logger)
        let running = Task { try await another.run() }
        let base = "http://127.0.0.1:\(try await another.port)"
        try await withLarder(["--upstreams-catalogue-url", base + "/catalogue"]) { larder in
            let fields = ["Sandbox-Fault": "error(500)"]
            let response = try await larder.send("GET", "/v1/shop/search?limit=100&refresh=1", fields)
            #expect(response.status == 200)
            let entries = try await RunningSandbox(base: base).control.get("/journal").json.entries.elements
            #expect(!entries.isEmpty)
            for entry in entries { #expect(entry.fault.string == "online" && entry.headers["sandbox-fault"] == nil) }
        }
        running.cancel()
        _ = await running.result
    }
}
