import Foundation
import TestKit
import Testing

/// An API of which a test author has the OpenAPI document (docs/sandbox.md).
@Suite(.timeLimit(.minutes(3))) struct StubTests {
    private static let document = """
        openapi: 3.0.3
        paths:
          /today:
            get:
              parameters: [{name: city, in: query, required: true, schema: {type: string}}]
              responses: {"200": {content: {application/json: {example: {celsius: 21}}}}}
        """

    @Test("HARN-24 a document is served, mounted by Larder, faulty, journaled and removed like every upstream")
    func weather() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "weather.yaml")
        try Data(Self.document.utf8).write(to: file)
        let sandbox = try await RunningSandbox.start()
        let control = sandbox.control
        let body = #"{"name":"weather","openapi":"\#(file.path)"}"#
        let made = try await control.post("/upstreams", body)
        #expect(try made.status == 201 && made.json.operations[0].string == "GET /today")
        #expect(try await control.post("/upstreams", body).status == 409)
        #expect(try await control.post("/upstreams", #"{"name":"spacex","openapi":"\#(file.path)"}"#).status == 409)
        let nothing = try await control.post("/upstreams", #"{"name":"x","openapi":"/nothing/here"}"#)
        #expect(try nothing.status == 400 && nothing.json.field.string == "openapi")

        let larder = try await RunningLarder.start(sandbox.settings("weather"))
        let mount = "/v1/upstreams/weather/today"
        #expect(try await larder.client.get("\(mount)?city=Oslo").text == #"{"celsius":21}"#)
        let refused = try await larder.client.get(mount)
        #expect(try refused.status == 400 && refused.json.errors[0].name.string == "city")
        #expect(try await control.put("/upstreams/weather/fault", #"{"fault":"error(503)"}"#).status == 200)
        #expect(try await Client(base: sandbox.base).get("/weather/today?city=Oslo").status == 503)
        let journal = try await control.get("/journal?upstream=weather").json
        #expect(journal.entries.elements.map(\.status.int) == [200, 400, 503])

        #expect(try await control.delete("/upstreams/weather").status == 204)
        #expect(try await control.delete("/upstreams/weather").status == 404)
        #expect(try await control.delete("/upstreams/spacex").status == 409)
        #expect(try await Client(base: sandbox.base).get("/weather/today?city=Oslo").status == 404)
        #expect(await larder.stop() == 0)
    }

    @Test("HARN-35 a stub mounts itself at run time in its space: response, fault and journal are those of the space")
    func mounted() async throws {
        let tested = try await TestedLarder.start()
        let (one, other) = (try await tested.space(), try await tested.space())
        let path = "/v1/upstreams/weather/today?city=Oslo"
        #expect(try await one.client.get(path).status == 404)
        for (space, celsius) in [(one, 1), (other, 2)] {
            let rule = #"{"match":{"route":"GET /today"},"respond":{"json":{"at":"{{query.city}}","c":\#(celsius)}}}"#
            let made = try await space.sandbox.control.post("/upstreams", #"{"name":"weather","rules":[\#(rule)]}"#)
            #expect(try made.status == 201 && made.json.rules.int == 1)
            #expect(try await space.client.get(path).text == #"{"at":"Oslo","c":\#(celsius)}"#)
        }
        #expect(try await tested.client.get(path).status == 404)
        let control = one.sandbox.control
        #expect(try await control.put("/upstreams/weather/fault", #"{"fault":"error(503)"}"#).status == 200)
        let fresh = ["Cache-Control": "no-store"]
        // The rule has no fault of its own.
        #expect(try await one.client.get(path, fresh).status == 503)
        #expect(try await other.client.get(path, fresh).status == 200)
        let statuses = try await control.get("/journal?upstream=weather").json.entries.elements.map(\.status.int)
        #expect(statuses.count >= 2 && statuses.prefix(2) == [200, 503])
        #expect(try await other.sandbox.control.get("/journal?upstream=weather&count").json.count.int == 2)

        #expect(try await other.sandbox.control.delete("/upstreams/weather").status == 204)
        #expect(try await other.client.get(path, fresh).status == 404)
        #expect(try await one.harness.send("POST", "/reset").status == 204)
        #expect(try await one.client.get(path).status == 404)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-35 a stub that is made again has no stored response of the one before")
    func remade() async throws {
        let tested = try await TestedLarder.start()
        let control = tested.sandbox.control
        for celsius in 1...2 {
            let respond = #"{"json":{"c":\#(celsius)},"header":{"Cache-Control":"max-age=600"}}"#
            let rule = #"{"match":{"route":"GET /today"},"respond":\#(respond)}"#
            #expect(try await control.post("/upstreams", #"{"name":"weather","rules":[\#(rule)]}"#).status == 201)
            let mount = "/v1/upstreams/weather/today"
            for _ in 1...2 { #expect(try await tested.client.get(mount).text == #"{"c":\#(celsius)}"#) }
            #expect(try await control.get("/journal?upstream=weather&count").json.count.int == celsius)
            #expect(try await control.delete("/upstreams/weather").status == 204)
        }
        #expect(try await control.post("/upstreams", #"{"name":"weather","rules":[]}"#).status == 201)
        #expect(try await tested.client.get("/v1/upstreams/weather/today").status == 404)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-40 a folder of mappings is imported and served; what it could not map is listed by name")
    func imported() async throws {
        let folder = try TemporaryFolder()
        try Data(#"{"request":{"method":"GET","urlPath":"/a"},"response":{"jsonBody":{"a":1}}}"#.utf8).write(
            to: folder.url.appending(path: "a.json")
        )
        try Data(#"{"name":"b","request":{"cookies":{"a":{"equalTo":"1"}}},"response":{}}"#.utf8).write(
            to: folder.url.appending(path: "b.json")
        )
        let sandbox = try await RunningSandbox.start()
        let made = try await sandbox.control.post("/upstreams", #"{"name":"shop","wiremock":"\#(folder.path)"}"#)
        #expect(made.status == 201, "\(made.text)")
        #expect(try made.json.unmapped.elements.map(\.source.string) == ["b.json#b"])
        #expect(try made.json.unmapped.elements.map(\.member.string) == ["request/cookies"])
        #expect(try await Client(base: sandbox.base).get("/shop/a").text == #"{"a":1}"#)
        #expect(try await Client(base: sandbox.base).get("/shop/b1").status == 404)
        let wrong = try await sandbox.control.post("/upstreams", #"{"name":"x","har":{"a":1}}"#)
        #expect(try wrong.status == 400 && wrong.json.field.string == "har")
        let empty = try TemporaryFolder()
        for body in [#"{"name":"x"}"#, #"{"name":"x","wiremock":"\#(empty.path)"}"#] {
            #expect(try await sandbox.control.post("/upstreams", body).status == 400, "\(body)")
        }
    }

    @Test("HARN-40 the folder of WireMock is imported with the mappings and files of bodies in it")
    func bodies() async throws {
        let folder = try TemporaryFolder()
        for (name, text) in [
            (
                "mappings/below/a.json",
                #"{"request":{"urlPathPattern":"/a/[0-9]+"},"response":{"bodyFileName":"b/c.txt"}}"#
            ),
            ("mappings/d.json", #"{"request":{"url":"/d"},"response":{"bodyFileName":"../secret"}}"#),
            ("__files/b/c.txt", "of a file"), ("secret", "no"),
        ] {
            let file = folder.url.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        let sandbox = try await RunningSandbox.start()
        let single = #"{"request":{"url":"/e"},"response":{"bodyFileName":"b/c.txt"}}"#
        let inline = try await sandbox.control.post("/upstreams", #"{"name":"three","wiremock":\#(single)}"#)
        #expect(try inline.json.unmapped.elements.map(\.member.string) == ["response/bodyFileName"])
        let alone = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: "\(folder.path)/__files", toPath: "\(alone.path)/__files")
        try Data(single.utf8).write(to: alone.url.appending(path: "e.json"))
        let made = try await sandbox.control.post("/upstreams", #"{"name":"four","wiremock":"\#(alone.path)/e.json"}"#)
        #expect(made.status == 201)
        #expect(try await Client(base: sandbox.base).get("/four/e").text == "of a file")
        for (name, path) in [("one", folder.path), ("two", "\(folder.path)/mappings")] {
            let made = try await sandbox.control.post("/upstreams", #"{"name":"\#(name)","wiremock":"\#(path)"}"#)
            #expect(try made.json.unmapped.elements.map(\.member.string) == ["response/bodyFileName"])
            #expect(try await Client(base: sandbox.base).get("/\(name)/a/17").text == "of a file")
        }
    }

    @Test("HARN-40 paths of files may begin with the name of the upstream, those of rules by hand then mean its prefix")
    func prefixed() async throws {
        let sandbox = try await RunningSandbox.start()
        let mapping = #"{"request":{"url":"/api/items"},"response":{"body":"imported"}}"#
        let rule = #"{"match":{"path":"/api/own"},"respond":{"text":"own"}}"#
        let body = #"{"name":"api","wiremock":\#(mapping),"rules":[\#(rule)]}"#
        #expect(try await sandbox.control.post("/upstreams", body).status == 201)
        let client = Client(base: sandbox.base)
        #expect(try await client.get("/api/api/items").text == "imported")
        #expect(try await client.get("/api/own").text == "own")
    }
}
