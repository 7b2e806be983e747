import Foundation
import TestKit
import Testing

/// Responses are recorded from simulated upstreams, and replayed without any (docs/fixtures.md).
@Suite(.timeLimit(.minutes(5))) struct FixtureTests {
    private static let names = ["spacex", "catalogue", "yandex_disk", "yandex_oauth"]

    private static func start(
        _ mode: String,
        _ sandbox: String,
        _ folder: TemporaryFolder,
        _ environment: [String: String] = [:]
    ) async throws -> RunningLarder {
        let flags = names.flatMap { name in
            let flag = "--upstreams-\(name.replacing("_", with: "-"))"
            return [
                "\(flag)-url", "\(sandbox)/\(name)", "\(flag)-mode", mode, "\(flag)-fixtures", "\(folder.path)/\(name)",
                "\(flag)-connect-timeout-ms", "60000", "\(flag)-total-timeout-ms", "60000",
            ]
        }
        return try await RunningLarder.start(flags, environment: environment)
    }

    private struct Seen: Equatable {
        let items: [JSON]
        let bodies: [Data]
    }

    /// Returns ships, products and files as a front end gets them, and the bytes of a picture, a download and a mount.
    private static func seen(_ larder: RunningLarder) async throws -> Seen {
        let guest = try await larder.guest()
        let ships = try await guest.get("/v1/ships").json.data
        let shop = try await larder.client.get("/v1/shop/search?limit=5").json.data
        let disk = try await larder.client.diskUser("sandbox-token")
        let root = try await disk.get("/v1/disk/files")
        let folder = try root.json.data
        let recent = try await disk.get("/v1/disk/recent?limit=3").json.data
        let file = try #require(recent.items[0].href.string)
        let content = try #require(try await disk.get(file).json.data.content_url.string)
        let bytes = try await disk.get(content)
        let raw = try await larder.client.get("/v1/upstreams/spacex/v4/ships")
        let picture = try await guest.get("/v1/ships/\(try #require(ships.items[0].id.string))/image")
        #expect(bytes.status == 200 && raw.status == 200 && picture.status == 200)
        #expect(!ships.items.elements.isEmpty && !shop.items.elements.isEmpty)
        #expect(root.status == 200 && !folder.items.elements.isEmpty)
        return Seen(
            items: [ships.items, shop.items, folder.items, recent.items],
            bodies: [raw.body, picture.body, bytes.body]
        )
    }

    @Test(
        "HARN-19 HARN-20 recorded ships, products, files and a download are the same in replay, without upstreams",
        arguments: ["", "true"]
    )
    func replay(ci: String) async throws {
        let (sandbox, folder) = (try await RunningSandbox.start(), try TemporaryFolder())
        // Where the environment has CI, likely secrets are refused: the sandbox has none.
        let first = try await Self.start("record", sandbox.base, folder, ["CI": ci])
        let recorded = try await Self.seen(first)
        #expect(await first.stop() == 0)
        await sandbox.kill9()

        let second = try await Self.start("replay", sandbox.base, folder)
        #expect(try await Self.seen(second) == recorded)
        let unknown = try await second.client.get("/v1/upstreams/spacex/v4/rockets")
        let problem = try unknown.json
        #expect(unknown.status == 404 && problem.code.string == "not-recorded")
        #expect(problem.near_misses[0].differences[0].field.string == "path")
        #expect(await second.stop() == 0)
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let stored = FileManager.default.contents(atPath: "\(folder.path)/\(name)") ?? Data()
            #expect(stored.firstRange(of: Data("sandbox-token".utf8)) == nil, "\(name)")
        }
    }

    @Test("HARN-21 HARN-23 the mode is set while the server runs: spy records what is missing, an edited file holds")
    func controls() async throws {
        let folder = try TemporaryFolder()
        let tested = try await TestedLarder.start(["--upstreams-spacex-fixtures", folder.path])
        let path = "/v1/upstreams/spacex/v4/ships?page=1"
        let fresh = ["Cache-Control": "no-cache"]
        func set(_ mode: String, _ name: String = "spacex") async throws -> Int {
            try await tested.harness.put("/upstreams/\(name)/mode", #"{"mode":"\#(mode)"}"#).status
        }
        #expect(try await set("spy") == 200)
        let first = try await tested.client.get(path, fresh)
        #expect(first["Fixture"] == "recorded")
        let second = try await tested.client.get(path, fresh)
        #expect(second["Fixture"] == "001-GET-v4-ships_page-1.http.yaml" && second.body == first.body)
        let sent = try await tested.sandbox.control.get("/journal?upstream=spacex&path=/spacex/v4/ships&count").json
        #expect(sent.count.int == 1)

        try Data("request: GET /v4/ships?page=1\nstatus: 200\njson: '[]'\n".utf8).write(
            to: folder.url.appending(path: "001-GET-v4-ships_page-1.http.yaml")
        )
        #expect(try await set("replay") == 200)
        #expect(try await tested.client.get(path, fresh).text == "[]")
        #expect(try await tested.client.get("/v1/upstreams/spacex/v4/launches").status == 404)
        let state = try await tested.harness.get("/upstreams/spacex").json
        #expect(state.mode.string == "replay" && state.files[0].uses.int == 1)
        #expect(state.unmatched[0].request.string == "GET /v4/launches")

        #expect(try await set("replay", "catalogue") == 409)
        #expect(try await set("again") == 400)
        #expect(try await set("live", "nothing") == 404)
        try await tested.reset()
        #expect(try await tested.harness.get("/upstreams/spacex").json.mode.string == "live")
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-22 larder fixtures diff asks the API again: exit code 0, then 1 with the pointers of what differs")
    func diff() async throws {
        let (sandbox, folder) = (try await RunningSandbox.start(), try TemporaryFolder())
        let larder = try await Self.start("record", sandbox.base, folder)
        _ = try await larder.guest().get("/v1/ships")
        #expect(await larder.stop() == 0)
        let settings = [
            "--upstreams-spacex-url", sandbox.spacex, "--upstreams-spacex-fixtures", "\(folder.path)/spacex",
        ]
        let same = RunningProcess(["fixtures", "diff", "spacex"] + settings)
        #expect(await same.ended() == 0)
        let list = try #require(
            try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/spacex").first {
                $0.contains("v4-ships") && $0.hasSuffix(".yaml")
            }
        )
        let file = URL(filePath: "\(folder.path)/spacex/\(list)")
        let text = try String(contentsOf: file, encoding: .utf8)
        let name = try #require(text.firstMatch(of: /"name": "[^"]*"/)).output
        try Data(text.replacing(name, with: #""name": "Another""#, maxReplacements: 1).utf8).write(to: file)
        let other = RunningProcess(["fixtures", "diff", "spacex"] + settings)
        #expect(await other.ended() == 1)
        #expect(other.output.contains(#"/name: "Another" -> "#), "\(other.output)")
        let none = RunningProcess(["fixtures", "list", "nothing"])
        #expect(await none.ended() == 64)
    }
}
