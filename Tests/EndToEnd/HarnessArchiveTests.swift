import Foundation
import TestKit
import Testing

/// Snapshots as files, which another process begins with (docs/harness.md, "Archives").
@Suite(.timeLimit(.minutes(3))) struct HarnessArchiveTests {
    private static let seed = """
        {"accounts": [{"app": "notes", "name": "anna", "token": "t-anna"}],
         "notes": [{"account": "anna", "body": "kept, с текстом"}], "list": [{"product_id": 5}],
         "documents": [{"name": "Report", "text": "Hello"}], "ships": [{"name": "Only"}],
         "disk": {"files": [{"path": "disk:/New/a.txt", "text": "abc"}]}}
        """

    @Test("HARN-17 export, new process, import, export: equal archives, and the same screens and tokens")
    func equal() async throws {
        let folder = try TemporaryFolder()
        let (start, end) = ("\(folder.path)/start.tar", "\(folder.path)/end.tar")
        let tested = try await TestedLarder.start()
        try await tested.freeze()
        #expect(try await tested.harness.put("/seed", Self.seed).status == 200)
        try await tested.sandbox.fault("slow(1)", of: "people")
        let first = try await Self.archive(tested)
        try first.write(to: URL(filePath: start))
        let notes = try await tested.client("t-anna").get("/v1/notes").content
        #expect(await tested.larder.stop() == 0)

        let again = try await TestedLarder.start(["--import", start, "--export-on-exit", end])
        let second = try await Self.archive(again)
        #expect(second == first, "\(Self.difference(first, second))")
        #expect(await again.larder.stop() == 0)
        let third = try Data(contentsOf: URL(filePath: end))
        #expect(third == first, "\(Self.difference(first, third))")
        let rights = try FileManager.default.attributesOfItem(atPath: end)[.posixPermissions] as? Int
        #expect(rights == 0o600)

        let last = try await TestedLarder.start(["--import", end])
        #expect(try await last.client("t-anna").get("/v1/notes").content == notes)
        #expect(try await last.client.get("/v1/pdf/documents").text.contains("Report"))
        #expect(try await last.sandbox.client.get("/spacex/v4/ships").text.contains("Only"))
        #expect(try await last.sandbox.control.get("/upstreams/people/fault").text.contains("slow(1)"))
        #expect(await last.larder.stop() == 0)
    }

    @Test("HARN-17 an archive of another version is refused by name, as is a directory with data, or no archive")
    func refused() async throws {
        let folder = try TemporaryFolder()
        let tested = try await TestedLarder.start()
        var bytes = try await Self.archive(tested)
        #expect(await tested.larder.stop() == 0)
        let file = "\(folder.path)/a.tar"
        try bytes.write(to: URL(filePath: file))
        let used = ["serve", "--sandbox", "--import", file, "--data-directory"]
        #expect(await RunningProcess(used + [tested.larder.data.path]).ended() == 1)
        #expect(await RunningProcess(["serve", "--import", file, "--data-directory", "\(folder.path)/b"]).ended() == 1)
        let range = try #require(bytes.range(of: Data(#""larder" : "0.1.0""#.utf8)))
        bytes.replaceSubrange(range, with: Data(#""larder" : "0.0.1""#.utf8))
        try bytes.write(to: URL(filePath: file))
        let process = RunningProcess(used + ["\(folder.path)/c"])
        try await process.logged("another version of Larder (0.0.1")
        #expect(await process.ended() == 1)
    }

    @Test("HARN-33 an archive has no response with a secret, by its name or as a request carried it; others are kept")
    func secrets() async throws {
        let api = try await RunningSandbox.start()
        let examples = [
            "/named": #"{"accessToken":"planted-archive-1"}"#, "/echo": #"{"you":"planted-archive-2"}"#,
            "/nested": #"{"credentials":{"list":["planted-archive-3"]}}"#,
            "/plain": #"{"note":"kept-in-the-archive","token_type":"bearer"}"#,
        ]
        let paths = examples.map { path, example in
            let content = #"{"application/json":{"example":\#(example)}}"#
            return #""\#(path)":{"get":{"responses":{"200":{"description":"x","content":\#(content)}}}}"#
        }
        let document =
            #"{"openapi":"3.1.0","info":{"title":"Echo","version":"1"},"paths":{\#(paths.joined(separator: ","))}}"#
        #expect(try await api.control.post("/upstreams", #"{"name":"echo","openapi":\#(document)}"#).status == 201)
        let tested = try await TestedLarder.start([
            "--upstreams-echo-url", "\(api.client.base)/echo", "--upstreams-echo-shared", "false",
        ])
        let fields = ["Authorization": "Bearer planted-archive-2"]
        for path in examples.keys {
            #expect(try await tested.client.get("/v1/upstreams/echo\(path)", fields).status == 200, "\(path)")
        }
        let archive = try await Self.archive(tested)
        #expect(archive.firstRange(of: Data("planted-archive".utf8)) == nil)
        // Bodies are in Base64 there.
        let stored = { (text: String) in Data(text.utf8).base64EncodedString() }
        for (path, example) in examples {
            #expect((archive.firstRange(of: Data(stored(example).utf8)) != nil) == (path == "/plain"), "\(path)")
        }
        // The server itself still has them all.
        await api.kill9()
        for (path, example) in examples {
            #expect(try await tested.client.get("/v1/upstreams/echo\(path)", fields).text == example, "\(path)")
        }
        #expect(await tested.larder.stop() == 0)
    }

    private static func archive(_ tested: TestedLarder) async throws -> Data {
        #expect(try await tested.harness.send("PUT", "/snapshots/base").status == 201)
        let response = try await tested.harness.get("/snapshots/base/archive")
        #expect(response.status == 200 && response["Content-Type"] == "application/x-tar")
        return response.body
    }

    /// The first place at which two archives differ.
    private static func difference(_ first: Data, _ second: Data) -> String {
        let at = zip(first, second).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? 0
        let around = max(0, at - 300)..<min(first.count, second.count, at + 300)
        return "at \(at) of \(first.count) and \(second.count): \(String(decoding: first[around], as: UTF8.self)) ≠ "
            + String(decoding: second[around], as: UTF8.self)
    }
}

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
