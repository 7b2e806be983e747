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

        let larder = try await RunningLarder.start(
            data: try TemporaryFolder(),
            ["--upstreams-weather-url", "\(sandbox.base)/weather"]
        )
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
}
