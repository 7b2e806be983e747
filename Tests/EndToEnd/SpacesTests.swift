import Foundation
import TestKit
import Testing

/// Several servers in one process, each alone in the world (docs/harness.md).
@Suite(.timeLimit(.minutes(5))) struct SpacesTests {
    private static func folders(in folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("larder-space-") }
    }

    @Test("HARN-07 data, fault, journal, events, measurements and clock of one space are seen in no other")
    func alone() async throws {
        let tested = try await TestedLarder.start()
        let (one, other) = (try await tested.space(#"{"name":"one"}"#), try await tested.space(#"{"name":"other"}"#))
        let events = try await EventListener.open(other.client.base + "/v1/events")
        let item = #"{"product_id":53,"quantity":2}"#
        #expect(try await one.client.post("/v1/shop/list/items", item).status == 201)
        _ = try await one.harness.put("/clock", #"{"now":"2040-01-05T10:00:00Z","frozen":true}"#)
        try await one.sandbox.fault("offline")
        _ = try await one.client.guest().get("/v1/ships?refresh=1")
        #expect(try await one.client.get("/v1/status").text.contains(#""reachable":false"#))

        for (client, harness, sandbox) in [
            (other.client, other.harness, other.sandbox), (tested.client, tested.harness, tested.sandbox),
        ] {
            #expect(try await client.get("/v1/shop/list").json.data.items.elements.isEmpty)
            #expect(try await harness.get("/clock").json.now.string?.hasPrefix("2040") == false)
            #expect(try await !client.get("/v1/status").text.contains(#""reachable":false"#))
            #expect(try await !client.get("/metrics").text.contains(#"route="/v1/shop/list/items""#))
            #expect(try await harness.get("/journal?path=/v1/ships&count").json.count.int == 0)
            #expect(try await sandbox.journal().isEmpty)
        }
        #expect(try await one.client.get("/metrics").text.contains(#"route="/v1/shop/list/items""#))
        // The first events are the space's own, not the outage or the list of the other one.
        for product in [54, 55] {
            let own = #"{"product_id":\#(product),"quantity":1}"#
            #expect(try await other.client.post("/v1/shop/list/items", own).status == 201)
        }
        let revisions = [try await events.next()?.data.revision.int, try await events.next()?.data.revision.int]
        #expect(revisions[0].map { $0 + 1 } == revisions[1])
        #expect(try await other.client.guest().get("/v1/ships").json.meta.offline.bool == false)
        // A reset of one is none of another.
        #expect(try await one.harness.send("POST", "/reset").status == 204)
        #expect(try await one.client.get("/v1/shop/list").json.data.items.elements.isEmpty)
        #expect(try await other.client.get("/v1/shop/list").json.data.items.elements.count == 2)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-07 a space reads the recordings of its server and writes none, so that no other sees what it has asked")
    func recordings() async throws {
        let folder = try TemporaryFolder()
        let settings = ["--upstreams-spacex-fixtures", folder.path, "--upstreams-spacex-mode", "record"]
        let tested = try await TestedLarder.start(settings)
        let (one, other) = (try await tested.space(), try await tested.space())
        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
        #expect(try await one.harness.get("/upstreams/spacex").json.mode.string == "live")
        #expect(try await one.harness.put("/upstreams/spacex/mode", #"{"mode":"record"}"#).status == 409)
        #expect(try await one.harness.put("/upstreams/spacex/mode", #"{"mode":"spy"}"#).status == 200)
        #expect(try await other.harness.put("/upstreams/spacex/mode", #"{"mode":"replay"}"#).status == 200)
        let path = "/v1/upstreams/spacex/v4/ships?page=1"
        let sent = try await one.client.get(path)
        #expect(sent.status == 200 && sent["Fixture"] == nil)
        #expect(try await other.client.get(path).status == 404)
        #expect(try files().isEmpty)
        let recorded = try await tested.client.get(path)
        #expect(try files().count == 1)
        let replayed = try await other.client.get(path, ["Cache-Control": "no-cache"])
        #expect(replayed.status == 200 && replayed["Fixture"] != nil)
        // Links to pictures have the ports of the sandboxes.
        #expect(try replayed.json.elements.count == recorded.json.elements.count)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-07 32 spaces are there at once, and their end frees their ports and files")
    func many() async throws {
        let temporary = try TemporaryFolder()
        let tested = try await TestedLarder.start(environment: ["TMPDIR": temporary.path])
        let spaces = try await withThrowingTaskGroup(of: TestedSpace.self) { group in
            for number in 1...32 {
                let order = #"{"name":"t\#(number)","now":"2077-01-05T10:00:00Z","frozen":true}"#
                group.addTask { try await tested.space(order) }
            }
            return try await group.reduce(into: [TestedSpace]()) { $0.append($1) }
        }
        #expect(try await tested.harness.get("/spaces").json.spaces.elements.count == 32)
        #expect(try Self.folders(in: temporary).count == 32)
        var starts: [String] = []
        for space in spaces {
            starts.append(try #require(await space.client.startOfServer()))
            #expect(try await space.harness.get("/clock").text.contains("2077"))
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for space in spaces {
                group.addTask { try await tested.harness.delete("/spaces/\(space.name)").status }
            }
            for try await status in group { #expect(status == 204) }
        }
        #expect(try await tested.harness.get("/spaces").json.spaces.elements.isEmpty)
        #expect(try Self.folders(in: temporary).isEmpty)
        for (space, start) in zip(spaces, starts) {
            #expect(await space.client.startOfServer() != start)
            #expect(await space.harness.responseOfAny("/clock")?.text.contains("2077") != true)
        }
        #expect(await tested.larder.stop() == 0)
        withExtendedLifetime(temporary) {}
    }

    @Test("HARN-07 a space ends with its idle time or its connection, and leaves no folder, not even by kill -9")
    func ends() async throws {
        let temporary = try TemporaryFolder()
        let tested = try await TestedLarder.start(environment: ["TMPDIR": temporary.path])
        _ = try await tested.space(#"{"name":"idle","idle_s":1}"#)
        let body = #"{"name":"bound","until":"connection"}"#
        let request = """
            POST /_harness/spaces HTTP/1.1\r
            Host: localhost\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """
        try await RawClient.connect(port: tested.sandbox.port) { client in
            try await client.send(request)
            while try await tested.harness.get("/spaces/bound").status != 200 {}
        }
        while try await !tested.harness.get("/spaces").json.spaces.elements.isEmpty {}
        #expect(try Self.folders(in: temporary).isEmpty)

        _ = try await tested.space()
        await tested.larder.kill9()
        #expect(try Self.folders(in: temporary).count == 1)
        let next = try await TestedLarder.start(environment: ["TMPDIR": temporary.path])
        while try !Self.folders(in: temporary).isEmpty { await Task.yield() }
        #expect(await next.larder.stop() == 0)
    }

    @Test("A space is refused by a name that is taken or none, or a member that nobody knows; it has none of its own")
    func refusals() async throws {
        let tested = try await TestedLarder.start()
        let space = try await tested.space(#"{"name":"t1","seed":7,"now":"2030-01-05T10:00:00Z","frozen":true}"#)
        #expect(try await space.harness.get("/clock").text.contains(#""now":"2030-01-05T10:00:00.000Z","frozen":true"#))
        #expect(try await tested.harness.get("/spaces/t1").json.seed.int == 7)
        for (body, status) in [
            (#"{"name":"t1"}"#, 409), (#"{"name":"../x"}"#, 400), (#"{"name":""}"#, 400), (#"{"names":"t2"}"#, 400),
            (#"{"idle_s":-1}"#, 400), (#"{"until":"never"}"#, 400), (#"{"from":"nothing"}"#, 404), ("[]", 400),
        ] {
            #expect(try await tested.harness.post("/spaces", body).status == status, "\(body)")
        }
        #expect(try await tested.harness.get("/spaces/t2").status == 404)
        #expect(try await tested.harness.delete("/spaces/t2").status == 404)
        #expect(try await space.harness.post("/spaces", "{}").status == 404)
        #expect(try await tested.harness.get("/spaces").json.spaces.elements.count == 1)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-08 a command gets spaces of its own, which end with it")
    func executed() async throws {
        let script = """
            for url in $(echo "$LARDER_SPACES" | grep -o '"url":"[^"]*"' | cut -d'"' -f4); do
              echo "space $url $(curl -sf "$url/v1/status" | grep -o '"started_at":"[^"]*"' | cut -d'"' -f4)"
            done; exit 3
            """
        let process = RunningProcess(["exec", "--spaces", "2", "--", "sh", "-c", script])
        #expect(await process.ended() == 3)
        let lines = process.output.split(separator: "\n").filter { $0.hasPrefix("space ") }
        let spaces = lines.map { $0.split(separator: " ") }
        #expect(Set(spaces.map { $0[1] }).count == 2)
        for space in spaces {
            try #require(space.count == 3, "no status of \(space)")
            #expect(await Client(base: String(space[1])).startOfServer() != String(space[2]))
        }
        #expect(await RunningProcess(["exec", "--spaces", "65", "--", "true"]).ended() != 0)
    }
}
