import Foundation
import TestKit
import Testing

/// `larder scenario run` (docs/harness.md).
@Suite(.timeLimit(.minutes(5))) struct ScenarioTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String, name: String = "scenario.yaml") throws -> String {
        let path = "\(folder.path)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    @Test("HARN-25 the third of sixteen requests at once gets the fault, and no other")
    func third() async throws {
        let path = try file(
            """
            name: the third request
            steps:
              - on: {request: GET /categories, nth: 3, upstream: catalogue}
                do: {fault: error(500), times: 1}
              - do:
                  {request: GET /v1/upstreams/catalogue/categories, headers: {Cache-Control: no-store}, times: 16,
                   parallel: 16}
              - expect: {statuses: {200: 15, 500: 1}}
              - expect:
                  requests:
                    - {upstream: catalogue, match: {path: /categories}, status: 500, exactly: 1}
                    - {match: {path: /v1/upstreams/catalogue/categories}, exactly: 16}
            """
        )
        let process = RunningProcess(["scenario", "run", path, "--log-level", "error"])
        #expect(await process.ended() == 0, "\(process.output)\(process.log)")
        #expect(process.output.contains("ok   step 4, line 9: expect"))
    }

    @Test("HARN-26 what is not as expected is shown with both journals, ends the scenario, and the exit code is 1")
    func failed() async throws {
        let path = try file(
            """
            steps:
              - do: {request: POST /v1/ships/session, body: {mode: guest}, save: {token: /data/token}}
              - do: {request: GET /v1/ships, token: "{{token}}"}
              - expect:
                  {status: 200, json: {/meta/offline: true}, requests: {match: {path: /v1/status}, exactly: 1}}
              - do: {reset: true}
            """
        )
        let report = "\(folder.path)/out.xml"
        let process = RunningProcess(["scenario", "run", path, "--junit", report, "--log-level", "error"])
        #expect(await process.ended() == 1)
        let output = process.output
        for line in [
            "FAIL step 3, line 4: expect", "/meta/offline: expected true, was false", "near miss: #2 GET /v1/ships 200",
            "path: expected /v1/status, was /v1/ships", "requests to Larder: 2", "requests to upstreams: 1",
            "#1 GET /spacex/v4/ships 200 because of 2", "1 step not run",
        ] { #expect(output.contains(line), "\(line) is not in\n\(output)") }
        let xml = try String(contentsOfFile: report, encoding: .utf8)
        #expect(xml.contains(#"tests="4" failures="1" skipped="1""#))
    }

    @Test("HARN-40 the journals of a session become a scenario that repeats it, and fails on any other status")
    func recorded() async throws {
        let tested = try await TestedLarder.start(["--harness"])
        try await tested.freeze()
        let login = try await tested.client.post("/v1/ships/session", #"{"mode":"guest"}"#).json
        let guest = try tested.client(#require(login.data.token.string))
        for fault in ["online", "error(500)", "online"] {
            #expect(
                try await tested.sandbox.control.put("/upstreams/spacex/fault", #"{"fault":"\#(fault)"}"#).status == 200
            )
            try await tested.advance(61)
            #expect(try await guest.get("/v1/ships").status == 200)
        }
        #expect(try await guest.get("/v1/ships/nothing").status == 404)
        let process = RunningProcess(["scenario", "from-journal", tested.sandbox.base])
        #expect(await process.ended() == 0, "\(process.log)")
        let text = process.output
        let same = try file(text, name: "same.yaml")
        let run = RunningProcess(["scenario", "run", same, "--log-level", "error"])
        #expect(await run.ended() == 0, "\(text)\(run.output)\(run.log)")
        let other = try file(text.replacing("status: 404", with: "status: 200"), name: "other.yaml")
        #expect(await RunningProcess(["scenario", "run", other, "--log-level", "error"]).ended() == 1)
        for (journals, reason) in [
            ([same, other], "same.yaml is no journal"), (["/none.json", other], "there is no file /none.json"),
            (["http://127.0.0.1:1"], "http://127.0.0.1:1/_harness/journal does not respond"),
        ] {
            let refused = RunningProcess(["scenario", "from-journal"] + journals)
            #expect(await refused.ended() == 65)
            #expect(refused.log.contains(reason), "\(refused.log)")
        }
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-26 each file begins with a reset, and a file that is no scenario is refused before any is run")
    func several() async throws {
        let counts = """
            steps:
              - do: {request: POST /v1/shop/list/items, body: {product_id: 53, quantity: 2}}
              - do: {fault: {catalogue: offline}}
              - do: {advance: 61}
              - do: {request: GET /v1/shop/list}
              - expect: {json: {/data/totals/items: 2}, headers: {Cache-Control: no-cache}}
            """
        let (one, two) = (try file(counts, name: "one.yaml"), try file(counts, name: "two.yaml"))
        let process = RunningProcess(["scenario", "run", one, two, "--log-level", "error"])
        #expect(await process.ended() == 0, "\(process.output)\(process.log)")
        let wrong = try file("steps:\n  - doo: {}\n", name: "wrong.yaml")
        let refused = RunningProcess(["scenario", "run", one, wrong])
        #expect(await refused.ended() == 65)
        #expect(refused.output.isEmpty && refused.log.contains("wrong.yaml:2: there is no 'doo' here"))
        #expect(await RunningProcess(["scenario", "run", "/nowhere.yaml"]).ended() == 65)
    }
}
