import Foundation
import TestKit
import Testing

@Suite("Mounts of upstreams")
struct MountTests {
    static let path = "/v1/upstreams/spacex/v4/ships"

    let document: OpenAPIDocument
    let conformance: Conformance

    init() throws {
        document = try OpenAPIDocument.load()
        conformance = Conformance(document: document)
    }

    /// Everything that does not conform: each field of a problem has to be documented, but of the upstream's own
    /// response only the fields that Larder adds.
    private func faults(_ response: ReceivedResponse, of method: String) throws -> [String] {
        let operation = try #require(document.operation("\(method) /v1/upstreams/{name}/{path}"))
        if response.problemCode != nil {
            guard let documented = operation.responses[String(response.status)] else {
                return ["status \(response.status) is not documented"]
            }
            return try conformance.faults(of: response, documented: documented)
        }
        let declared = try #require(operation.responses["default"]?["headers"]?.object)
        var own = response.headers.filter { name, _ in declared.keys.contains { $0.lowercased() == name } }
        own["vary"] = nil
        let bare = ReceivedResponse(status: response.status, headers: own.map { ($0.key, $0.value) }, body: .init())
        return try conformance.faults(of: bare, documented: try #require(operation.responses["default"]))
    }

    @Test("SRV-02 SRV-07 Fields that a mount adds to responses are as described: fetched, stored and offline")
    func responses() async throws {
        try await withLarder { larder in
            let fetched = try await larder.send("GET", Self.path)
            #expect(fetched.status == 200)
            #expect(try faults(fetched, of: "GET") == [])
            try await larder.fault("offline")
            let offline = try await larder.send("GET", Self.path, ["Cache-Control": "no-cache"])
            #expect(offline.status == 200 && offline.body == fetched.body && offline.headers["larder-offline"] == "?1")
            #expect(try faults(offline, of: "GET") == [])
        }
    }

    @Test("SRV-06 SRV-07 The problems of a mount are as described: each only if there is no response to send")
    func problems() async throws {
        try await withLarder { larder in
            var codes: [String] = []
            func expect(_ code: String, _ method: String, _ path: String, _ headers: [String: String] = [:])
                async throws
            {
                let response = try await larder.send(method, path, headers)
                #expect(response.problemCode == code, "\(method) \(path)")
                #expect(try faults(response, of: method) == [], "\(method) \(path)")
                codes.append(code)
            }
            try await expect("not-found", "GET", "/v1/upstreams/nobody/v4/ships")
            try await expect("method-not-allowed", "POST", Self.path)
            try await expect("method-not-allowed", "DELETE", Self.path)
            try await expect("malformed-request", "GET", "/v1/upstreams/spacex/v4/%2e%2E/ships")
            try await expect("host-not-allowed", "GET", Self.path, ["Host": "evil.example"])
            try await expect("origin-not-allowed", "POST", Self.path, ["Origin": "https://evil.example"])
            try await expect("not-in-cache", "GET", Self.path, ["Cache-Control": "only-if-cached"])
            try await larder.fault("offline")
            try await expect("upstream-unavailable", "GET", Self.path)
            try await larder.fault("error(429, 600)")
            #expect(
                try await larder.send("GET", "/v1/upstreams/spacex/v4/any", ["Cache-Control": "no-cache"]).status == 429
            )
            try await expect("rate-limited", "GET", Self.path)
        }
    }

    @Test("SRV-06 SRV-11 The mount responds to a preflight with its methods; an unknown method is 405")
    func preflight() async throws {
        try await withLarder { larder in
            let fields = ["Origin": "https://shop.example", "Access-Control-Request-Method": "GET"]
            let response = try await larder.send("OPTIONS", Self.path, fields)
            #expect(
                response.status == 204 && response.headers["allow"] == "GET, HEAD, OPTIONS"
                    && response.headers["cache-status"] == nil
            )
            #expect(response.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS")
            let strange = try await larder.send("PROPFIND", Self.path)
            #expect(strange.status == 405 && strange.headers["allow"] == "GET, HEAD, OPTIONS")
        }
    }
}
