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

    @Test(
        "HARN-33 an archive has no response with a secret, by its name or because a request carried it; others are kept"
    )
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
