import JSONValues
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

private let rules = "/_sandbox/upstreams/spacex/rules"

extension RunningSandbox {
    /// Adds a rule of SpaceX, which must be one, and returns it.
    fileprivate func add(_ rule: String) async throws -> JSONObject {
        let response = try await send(.POST, rules, body: rule)
        try #require(response.status == 201, "\(response.text)")
        return try response.object()
    }

    fileprivate func status(_ path: String, headers: HTTPHeaders = [:]) async throws -> Int {
        try await get("/spacex\(path)", headers: headers).status
    }
}

@Suite struct ControlAPIFaultsTests {
    @Test("HARN-09 a rule for one path lets its requests fail, and no others")
    func path() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.add(#"{"match":{"path":"/v4/ships"},"fault":"error(500)"}"#)
            #expect(try await sandbox.status("/v4/ships") == 500)
            #expect(try await sandbox.status("/images/osprey.png") == 200)
            #expect(try await sandbox.status("/v4/admin/health") == 200)
            let entries = try await sandbox.journal(count: 3)
            #expect(entries.map { $0["rule"] } == [1, .null, .null])
            #expect(entries.map { $0["fault"] } == ["error(500)", "online", "online"])
        }
    }

    @Test("HARN-10 times: 2 gives 500, 500, 200, and GET shows that none is left")
    func times() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.add(#"{"fault":"error(500)","times":2}"#)
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await sandbox.status("/v4/ships")) }
            #expect(statuses == [500, 500, 200])
            #expect(
                try await sandbox.get(rules).text
                    == #"{"rules":[{"id":1,"match":{},"fault":"error(500)","times":2,"after":0,"matched":2,"#
                    + #""applied":2,"left":0}],"fault":"online"}"#
            )
        }
    }

    @Test("a sequence is applied in turn, after so many that pass; then the upstream's own fault holds")
    func sequence() async throws {
        try await withSandbox { sandbox in
            try await sandbox.set("error(418)")
            _ = try await sandbox.add(#"{"faults":["error(500)","online",["slow(0)","error(502)"]],"after":1}"#)
            var statuses: [Int] = []
            for _ in 0..<5 { statuses.append(try await sandbox.status("/v4/ships")) }
            #expect(statuses == [418, 500, 200, 502, 418])
        }
    }

    @Test("a rule sees method, query, fields and body; a field of the request itself comes before all rules")
    func matches() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.add(
                #"{"match":{"method":"POST","body":{"options":{"limit":1}}},"fault":"error(501)"}"#
            )
            _ = try await sandbox.add(#"{"match":{"query":{"a":"1"}},"fault":"error(502)"}"#)
            _ = try await sandbox.add(#"{"match":{"header":{"X-App":true}},"fault":"error(503)"}"#)
            let query = { (limit: Int) in
                let body = #"{"query":{},"options":{"limit":\#(limit),"page":1}}"#
                return try await sandbox.send(.POST, "/spacex/v4/ships/query", body: body).status
            }
            #expect(try await query(1) == 501)
            #expect(try await query(2) == 200)
            #expect(try await sandbox.status("/v4/ships?a=1") == 502)
            #expect(try await sandbox.status("/v4/ships?a=2") == 200)
            #expect(try await sandbox.status("/v4/ships", headers: ["x-app": "any"]) == 503)
            #expect(try await sandbox.status("/v4/ships?a=1", headers: ["Sandbox-Fault": "error(418)"]) == 418)
        }
    }

    @Test("rules are removed one by one or all, and by a reset, after which they are numbered from 1")
    func removal() async throws {
        try await withSandbox { sandbox in
            for status in 500...502 { _ = try await sandbox.add(#"{"fault":"error(\#(status))"}"#) }
            #expect(try await sandbox.send(.DELETE, "\(rules)/1").status == 200)
            #expect(try await sandbox.status("/v4/ships") == 501)
            let missing = try await sandbox.send(.DELETE, "\(rules)/1")
            #expect(missing.status == 404)
            #expect(try missing.object()["accepted"] == ["2", "3"])
            #expect(try await sandbox.send(.DELETE, rules).object()["rules"] == [])
            #expect(try await sandbox.status("/v4/ships") == 200)
            _ = try await sandbox.add(#"{"fault":"offline"}"#)
            #expect(try await sandbox.send(.POST, "/_sandbox/reset").status == 200)
            #expect(try await sandbox.get(rules).object()["rules"] == [])
            #expect(try await sandbox.add(#"{"fault":"offline"}"#)["id"] == 1)
        }
    }

    @Test(
        "what no rule can mean is refused, and adds none",
        arguments: [
            ("{}", "fault"), (#"{"fault":"online","faults":["online"]}"#, "fault"), (#"{"fault":"down"}"#, "fault"),
            (#"{"faults":[]}"#, "faults"), (#"{"faults":["x"]}"#, "faults"), (#"{"fault":"hold","times":0}"#, "times"),
            (#"{"fault":"hold","after":-1}"#, "after"), (#"{"fault":"hold","match":{"paths":"/"}}"#, "body"),
            (#"{"fault":"hold","match":{"path":"v4"}}"#, "path"), (#"{"fault":"hold","often":1}"#, "body"),
            (#"{"fault":"hold","match":{"query":{"a":1}}}"#, "query.a"), (#"{"fault":"hold","match":[]}"#, "body"),
        ]
    )
    func refused(body: String, field: String) async throws {
        try await withSandbox { sandbox in
            let response = try await sandbox.send(.POST, rules, body: body)
            #expect(response.status == 400)
            #expect(try response.object()["field"] == .string(field), "\(response.text)")
            #expect(try await sandbox.get(rules).object()["rules"] == [])
        }
    }

    @Test("HARN-12 a release frees one by its number, or so many; what it does not know is refused and frees none")
    func release() async throws {
        try await withSandbox { sandbox in
            let release = { (body: String) in
                try await sandbox.send(.POST, "/_sandbox/upstreams/spacex/release", body: body)
            }
            try await sandbox.set("hold")
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 1...3 {
                    group.addTask { try await sandbox.status("/v4/ships?n=\(index)") }
                    _ = try await sandbox.journal(count: index)
                }
                for body in [#"{"counts":1}"#, #"{"count":0}"#, #"{"count":1,"sequence":1}"#, "[]"] {
                    #expect(try await release(body).status == 400, "\(body)")
                }
                #expect(try await sandbox.waiting() == 3)
                #expect(try await release(#"{"sequence":2}"#).text == #"{"released":1}"#)
                #expect(try await release(#"{"sequence":2}"#).text == #"{"released":0}"#)
                #expect(try await group.next() == 200)
                let open = try await sandbox.get("/_sandbox/journal?status=none").object()["entries"]?.array
                #expect(open?.map { $0.object?["sequence"] } == [1, 3])
                #expect(try await release(#"{"count":1}"#).text == #"{"released":1}"#)
                #expect(try await group.next() == 200)
                let last = try await sandbox.get("/_sandbox/journal?status=none").object()["entries"]?.array
                #expect(last?.map { $0.object?["sequence"] } == [3])
                #expect(try await release("").text == #"{"released":1}"#)
                #expect(try await group.next() == 200)
            }
        }
    }
}
