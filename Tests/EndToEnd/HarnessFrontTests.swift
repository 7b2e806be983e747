import Foundation
import TestKit
import Testing

/// Faults of Larder's own routes that a test author sets, as a front end sees them (docs/harness.md).
@Suite(.timeLimit(.minutes(3))) struct HarnessFrontTests {
    @Test("HARN-32 a route is slow, gone, cut off or refuses, for responses that were kept as well; others are not")
    func faults() async throws {
        let tested = try await TestedLarder.start()
        let guest = try await tested.larder.guest()
        // Kept as a whole before the first control.
        for _ in 0..<2 { #expect(try await guest.get("/v1/ships").status == 200) }
        for (fault, status, code) in [
            ("error(500)", 500, "internal"), ("error(401)", 401, "session-expired"),
            ("error(503, 7)", 503, "overloaded"),
        ] {
            try await tested.fault(fault, of: "/v1/ships")
            let response = try await guest.get("/v1/ships")
            #expect(response.status == status && response.problemCode == code, "\(fault): \(response.text)")
            #expect(response["X-Request-ID"] != nil && response["Content-Language"] == "en")
            #expect(response["Retry-After"] == (status == 503 ? "7" : nil))
            #expect(try await guest.get("/v1/status").status == 200)
        }
        for fault in ["offline", "lost", "truncated", "reset(100)"] {
            try await tested.fault(fault, of: "/v1/ships")
            await #expect(throws: (any Error).self, "\(fault)") { try await guest.get("/v1/ships") }
        }
        try await tested.fault("html(200)", of: "/v1/ships")
        #expect(try await guest.get("/v1/ships").text.hasPrefix("<html>"))
        try await tested.fault("garbage", of: "/v1/ships")
        #expect(try await guest.get("/v1/ships").text.contains("garbage"))
        let plain = try await guest.get("/v1/ships/launch").text
        for fault in ["slow(300)", "slice(200, 1)", "bandwidth(100), slow(200)"] {
            try await tested.fault(fault, of: "GET /v1/ships/{screen}")
            let start = ContinuousClock.now
            #expect(try await guest.get("/v1/ships/launch").text == plain, "\(fault)")
            #expect(fault.contains("slow") == false || ContinuousClock.now - start > .milliseconds(200))
        }
        let faults = try await tested.harness.get("/journal?path=/v1/ships&status=500").json.entries.elements
        #expect(faults.map(\.fault.string) == ["error(500)"])
        try await tested.reset()
        #expect(try await tested.larder.guest().get("/v1/ships").status == 200)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-32 a fault of all routes leaves the controls alone, also those that Larder passes on")
    func controls() async throws {
        let tested = try await TestedLarder.start()
        #expect(try await tested.harness.put("/front/fault", #"{"fault":"error(500)"}"#).status == 200)
        #expect(try await tested.client.get("/v1/status").status == 500)
        #expect(try await tested.client.get("/v1/nothing").status == 500)
        #expect(try await tested.client.get("/v1/sandbox/journal").status == 200)
        #expect(try await tested.sandbox.client.get("/spacex/v4/ships").status == 200)
        #expect(try await tested.harness.send("DELETE", "/front/fault").json.fault.string == "online")
        #expect(try await tested.client.get("/v1/status").status == 200)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-32 faults of a route count, come in turn and hold until they are released; what is wrong is refused")
    func counted() async throws {
        let tested = try await TestedLarder.start()
        let sequence = #"{"route":"/v1/shop/**","faults":["error(500)","error(503)"],"after":1}"#
        #expect(try await tested.harness.put("/front/fault", sequence).status == 200)
        var statuses: [Int] = []
        for _ in 0..<4 { statuses.append(try await tested.client.get("/v1/shop/launch").status) }
        #expect(statuses == [200, 500, 503, 200])
        let route = try await tested.harness.get("/front/fault").json.routes[0]
        #expect(route.route.string == "/v1/shop/**" && route.applied.int == 2 && route.left.int == 0)

        try await tested.fault("hold", of: "GET /v1/status")
        async let held = tested.client.get("/v1/status")
        #expect(try await tested.harness.get("/journal/wait?path=/v1/status&timeout_ms=60000").status == 200)
        #expect(try await tested.harness.get("/front/fault").json.waiting.int == 1)
        try await tested.fault("error(502)", of: "GET /v1/status")
        #expect(try await tested.harness.post("/front/release", #"{"count":1}"#).json.released.int == 1)
        #expect(try await held.status == 502)

        for body in [
            #"{"route":"ships","fault":"offline"}"#, #"{"route":"/v1/ships","fault":"broken"}"#, "{}",
            #"{"fault":"offline","times":2}"#, #"{"route":"/v1/ships","match":{},"fault":"offline"}"#,
        ] {
            let response = try await tested.harness.put("/front/fault", body)
            #expect(response.status == 400, "\(body): \(response.text)")
        }
        #expect(try await tested.harness.send("DELETE", "/front/fault?route=/v1/ships").status == 404)
        #expect(try await tested.harness.send("DELETE", "/front/fault?route=/v1/shop/**").status == 200)
        #expect(await tested.larder.stop() == 0)
        let alone = try await RunningSandbox.start()
        #expect(try await alone.client.get("/_harness/front/fault").status == 404)
        await alone.kill9()
    }
}

extension TestedLarder {
    /// Sets the fault of a route.
    func fault(_ fault: String, of route: String) async throws {
        let response = try await harness.put("/front/fault", #"{"route":"\#(route)","fault":"\#(fault)"}"#)
        try #require(response.status == 200, "\(response.text)")
    }
}
