import AsyncHTTPClient
import JSONValues
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

private let id = "70ca00000000000000000001"

@Suite struct ControlAPITests {
    @Test("SRV-10 the index lists upstreams, faults and every call, each of which is there")
    func index() async throws {
        try await withSandbox { sandbox in
            let index = try await sandbox.get("/_sandbox").object()
            #expect(index["upstreams"]?.array?.first?.object?["name"] == "spacex")
            #expect(index["faults"]?.array?.count == FaultSyntaxError.accepted.count)
            let calls = try #require(index["calls"]?.array).compactMap(\.object)
            #expect(calls.count >= 11)
            // A sandbox without a server has no harness.
            for call in calls where call["path"]?.string?.hasPrefix("/_sandbox") == true {
                let path = try #require(call["path"]?.string).replacing("{name}", with: "spacex").replacing(
                    "{id}",
                    with: id
                )
                let method = try #require(call["method"]?.string)
                let body =
                    call["example"]?.string
                    ?? (method == "PUT" ? (path.hasSuffix("fault") ? #"{"fault":"online"}"# : "{}") : nil)
                // Each has to be known; that there is no such ship, or no request in time, is a response of the call
                // itself.
                let target = path.replacing("upstream=&", with: "upstream=spacex&").replacing(
                    "timeout_ms=5000",
                    with: "timeout_ms=0"
                ).replacing("{rule}", with: "1")
                let status = try await sandbox.send(HTTPMethod(rawValue: method), target, body: body).status
                #expect([200, 201, 408, 409].contains(status) || path.hasSuffix(id), "\(method) \(target) → \(status)")
                #expect(status != 405)
            }
        }
    }

    @Test("a fault that is set is read back with the number of requests that wait")
    func fault() async throws {
        try await withSandbox { sandbox in
            let put = try await sandbox.send(
                .PUT,
                "/_sandbox/upstreams/spacex/fault",
                body: #"{"fault": " slow( 300 )"}"#
            )
            #expect(put.status == 200 && put.headers["content-type"] == "application/json; charset=utf-8")
            #expect(
                try await sandbox.get("/_sandbox/upstreams/spacex/fault").text
                    == #"{"name":"spacex","base":"/spacex","fault":"slow(300)","rules":0,"waiting":0}"#
            )
        }
    }

    @Test(
        "malformed input is a problem that names the field and what is accepted, and changes nothing",
        arguments: [
            ("PUT", "/_sandbox/upstreams/spacex/fault", "{", 400, "body"),
            ("PUT", "/_sandbox/upstreams/spacex/fault", "[]", 400, "fault"),
            ("PUT", "/_sandbox/upstreams/spacex/fault", "{}", 400, "fault"),
            ("PUT", "/_sandbox/upstreams/spacex/fault", #"{"fault":1}"#, 400, "fault"),
            ("PUT", "/_sandbox/upstreams/spacex/fault", #"{"fault":"down"}"#, 400, "fault"),
            ("PUT", "/_sandbox/upstreams/spacex/fault", #"{"fault":"offline","for":3}"#, 400, "fault"),
            ("PUT", "/_sandbox/upstreams/spacex/fault", #"{"fault":["slow(1)",2]}"#, 400, "fault"),
            ("PUT", "/_sandbox/upstreams/spacex/fault", #"{"fault":["offline","slow(1)"]}"#, 400, "fault"),
            ("PUT", "/_sandbox/upstreams/spacex/fault", #"{"fault":[]}"#, 400, "fault"),
            ("PUT", "/_sandbox/upstreams/spacex/fault?for=1", #"{"fault":"offline"}"#, 400, "query"),
            ("POST", "/_sandbox/reset", #"{"all":true}"#, 400, "body"),
            ("GET", "/_sandbox/journal?status=ok", "", 400, "status"),
            ("GET", "/_sandbox/journal?since=-1", "", 400, "since"),
            ("GET", "/_sandbox/journal?count=2", "", 400, "count"),
            ("GET", "/_sandbox/journal?route=/v1/ships", "", 400, "route"),
            ("PUT", "/_sandbox/upstreams/nasa/fault", #"{"fault":"offline"}"#, 404, "name"),
            ("GET", "/_sandbox/journal?upstream=nasa", "", 400, "upstream"),
            ("GET", "/_sandbox/journal?upstreams=spacex", "", 400, "query"),
            ("GET", "/_sandbox/journal/wait?count=0", "", 400, "count"),
            ("GET", "/_sandbox/journal/wait?count=10001", "", 400, "count"),
            ("GET", "/_sandbox/journal/wait?count=1&count=2", "", 400, "count"),
            ("GET", "/_sandbox/journal/wait?timeout_ms=soon", "", 400, "timeout_ms"),
            ("GET", "/_sandbox/journal/wait?timeout_ms=60001", "", 400, "timeout_ms"),
            ("PUT", "/_sandbox/spacex/ships/7", "{}", 400, "id"),
            ("PUT", "/_sandbox/spacex/ships/\(id)", "[]", 400, "body"),
            ("PUT", "/_sandbox/spacex/ships/\(id)", #"{"id":"x"}"#, 400, "id"),
            ("PUT", "/_sandbox/spacex/ships", "nope", 400, "body"),
            ("DELETE", "/_sandbox", "", 405, "method"), ("GET", "/_sandbox/reset", "", 405, "method"),
            ("POST", "/_sandbox/journal", "", 405, "method"),
            ("DELETE", "/_sandbox/spacex/ships", "", 405, "method"),
        ]
    )
    func malformed(method: String, path: String, body: String, status: Int, field: String) async throws {
        try await withSandbox { sandbox in
            let before = try await sandbox.get("/spacex/v4/ships").body
            let response = try await sandbox.send(HTTPMethod(rawValue: method), path, body: body.isEmpty ? nil : body)
            let problem = try response.object()
            #expect(response.status == status && problem["status"] == .integer(status))
            #expect(response.headers["content-type"] == "application/problem+json")
            #expect(problem["field"] == .string(field))
            #expect(problem["accepted"]?.array?.isEmpty == false)
            #expect((status == 405) == (response.headers["allow"] != nil))
            #expect(try await sandbox.get("/spacex/v4/ships").body == before)
        }
    }

    @Test(
        "what is not there is a 404 problem",
        arguments: [
            "/_sandbox/x", "/_sandbox/upstreams/x/fault", "/_sandbox/upstreams/spacex/x", "/_sandbox/journal/x",
            "/_sandbox/spacex/rockets",
        ]
    )
    func notFound(path: String) async throws {
        try await withSandbox { sandbox in
            let response = try await sandbox.get(path)
            #expect(response.status == 404)
            #expect(try response.object()["code"] == "not-found")
        }
    }

    @Test(
        "SRV-11 the control API is refused to a Host or an Origin that is not loopback",
        arguments: [
            "Host: evil.example", "Host: localhost\r\nOrigin: https://evil.example", "Host: localhost\r\nOrigin: null",
        ]
    )
    func foreign(fields: String) async throws {
        try await withSandbox { sandbox in
            let request = { (method: String, path: String) in
                "\(method) \(path) HTTP/1.1\r\n\(fields)\r\nConnection: close\r\n\r\n"
            }
            let refused = try await RawExchange(port: sandbox.port, send: request("POST", "/_sandbox/reset"))
            #expect(refused.text.hasPrefix("HTTP/1.1 403") && refused.text.contains("application/problem+json"))
            let upstream = try await RawExchange(port: sandbox.port, send: request("GET", "/spacex/v4/admin/health"))
            #expect(upstream.text.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test("a page of this machine may use the control API")
    func localOrigin() async throws {
        try await withSandbox { sandbox in
            let response = try await sandbox.get("/_sandbox", headers: ["Origin": "http://localhost:8080"])
            #expect(response.status == 200)
        }
    }

    @Test("SRV-10 one call resets faults, data and journal, and releases what is held")
    func reset() async throws {
        try await withSandbox { sandbox in
            let original = try await sandbox.get("/spacex/v4/ships").body
            _ = try await sandbox.send(.PUT, "/_sandbox/spacex/ships", body: "[]")
            try await sandbox.set("hold")
            async let held = sandbox.get("/spacex/v4/ships")
            _ = try await sandbox.journal(count: 2)
            #expect(try await sandbox.send(.POST, "/_sandbox/reset").status == 200)
            #expect(try await held.body == original)
            let journal = try await sandbox.get("/_sandbox/journal").text
            #expect(journal.contains(#""entries":[]"#) && journal.contains(#""count":0"#), "\(journal)")
            #expect(try await sandbox.get("/spacex/v4/ships").body == original)
        }
    }
}

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
