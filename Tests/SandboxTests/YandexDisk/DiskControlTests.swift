import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct DiskControlTests {
    private let bench = DiskBench()

    @Test("every call that the index lists accepts its example")
    func examples() throws {
        for upstream in [SandboxUpstream.yandexDisk, .yandexOAuth] {
            let prefix = "/_sandbox/\(upstream.rawValue)/"
            let calls = ControlIndex.all.filter { $0.path.hasPrefix(prefix) }
            #expect(calls.count > 2)
            for line in calls {
                let method = try #require(HTTPRequest.Method(line.method))
                try bench.control(method, line.path.replacing(prefix, with: ""), line.example ?? "", of: upstream)
            }
        }
    }

    @Test(
        "malformed input is refused with the field's name, and changes nothing",
        arguments: [
            ("files", "[]", "body"), ("files", "{}", "path"), ("files", #"{"path":"disk:/"}"#, "path"),
            ("files", #"{"path":1}"#, "path"),
            ("files", #"{"path":"disk:/a","base64":"%"}"#, "base64"),
            ("files", #"{"path":"disk:/a","size":1}"#, "body"),
            ("files", #"{"path":"disk:/a","account":"eve"}"#, "account"),
            ("fill", #"{"path":"disk:/a","count":0}"#, "count"),
            ("fill", #"{"path":"disk:/a","count":100001}"#, "count"), ("fill", #"{"path":"disk:/a"}"#, "count"),
            ("quota", #"{"total_space":-1}"#, "total_space"),
            ("operations", #"{"calls":["dance"]}"#, "calls"), ("operations", #"{"status":"lost"}"#, "status"),
            ("links", #"{"host":"evil.example"}"#, "host"),
            ("links", #"{"stale_status":200}"#, "stale_status"),
            ("failures", #"{"call":"publish","error":"GoneError"}"#, "call"),
            ("failures", #"{"call":"GET /","error":"NoSuchError"}"#, "error"),
            ("clock", #"{"advance_s":1.5}"#, "advance_s"),
        ]
    )
    func malformed(call: String, body: String, field: String) throws {
        let before = bench.call(.get, "/resources", ["path": "disk:/"])
        let method: HTTPRequest.Method = ["files", "quota", "operations", "links"].contains(call) ? .put : .post
        let problem = #expect(throws: ControlProblem.self) { try bench.control(method, call, body) }
        #expect(problem?.status == .badRequest && problem?.field == field && problem?.accepted.isEmpty == false)
        #expect(bench.call(.get, "/resources", ["path": "disk:/"]) == before)
    }

    @Test("changes by another client are visible: written, moved and removed")
    func changes() throws {
        try bench.control(.put, "files", #"{"path":"disk:/новая/папка/a.bin","base64":"AAEC","account":"boris"}"#)
        #expect(
            try bench.json(.get, "/resources", ["path": "disk:/новая/папка/a.bin"], token: "sandbox-token-2")["size"]
                == 3
        )
        try bench.control(.post, "move", #"{"from":"disk:/Музыка","to":"disk:/Песни"}"#)
        #expect(bench.exists("disk:/Песни/Капель.wav") && !bench.exists("disk:/Музыка"))
        #expect(throws: ControlProblem.self) {
            try bench.control(.post, "move", #"{"from":"disk:/Песни","to":"disk:/Архив"}"#)
        }
        #expect(throws: ControlProblem.self) { try bench.control(.put, "files", #"{"path":"disk:/Горы.jpg/a"}"#) }
        #expect(throws: ControlProblem.self) { try bench.control(.post, "remove", #"{"path":"disk:/нет"}"#) }
        try bench.control(.post, "remove", #"{"path":"disk:/Песни"}"#)
        #expect(!bench.exists("disk:/Песни"))
    }

    @Test("a folder is filled with thousands of files, which page")
    func fill() throws {
        let made = try bench.control(.post, "fill", #"{"path":"disk:/Много/сразу","count":3000}"#)
        #expect(made["children"] == 3000)
        let last = try bench.json(
            .get,
            "/resources",
            ["path": "disk:/Много/сразу", "sort": "name", "offset": "2999", "limit": "5"]
        )
        #expect(last["_embedded"]?.object?["total"] == 3000)
        #expect(last["_embedded"]?.object?["items"]?.array?.compactMap { $0.object?["name"] } == ["Файл 003000.txt"])
        #expect(
            String(decoding: try bench.content("disk:/Много/сразу/Файл 003000.txt"), as: UTF8.self)
                == "Файл номер 3000.\n"
        )
        #expect(
            try bench.control(.post, "fill", #"{"path":"disk:/Много/сразу","count":10}"#)["children"] == 3000,
            "what is there stays"
        )
    }

    @Test(
        "a planned error is answered that many times, by that call alone",
        arguments: DiskFailure.selectable.map(\.code)
    )
    func failures(code: String) throws {
        try bench.control(.post, "failures", #"{"call":"PUT /resources/publish","error":"\#(code)","times":2}"#)
        #expect(bench.call(.get, "/resources", ["path": "disk:/Горы.jpg"]).status == .ok)
        for _ in 0..<2 {
            let response = bench.call(.put, "/resources/publish", ["path": "disk:/Горы.jpg"])
            let body = try response.object()
            #expect(
                response.status.kind != .successful && body["error"] == .string(code)
                    && response.headers[.contentType] == "application/json"
            )
            #expect(
                body["message"]?.string?.contains(/[а-яё]/) == true
                    && body["description"]?.string?.contains(/[а-яё]/) == false
            )
        }
        #expect(try bench.resource("disk:/Горы.jpg")["public_key"] == nil)
        #expect(bench.call(.put, "/resources/publish", ["path": "disk:/Горы.jpg"]).status == .ok)
    }

    @Test("a reset restores everything: files, tokens, rules and time")
    func reset() throws {
        let before = bench.call(.get, "/resources/files", ["limit": "1000"])
        try bench.control(.post, "remove", #"{"path":"disk:/Фотокамера"}"#)
        try bench.control(.put, "operations", #"{"calls":["delete"]}"#)
        try bench.control(.post, "clock", #"{"advance_s":100}"#)
        try bench.control(.post, "revoke", #"{"token":"sandbox-token"}"#, of: .yandexOAuth)
        bench.disk.reset()
        #expect(bench.call(.get, "/resources/files", ["limit": "1000"]) == before)
        #expect(bench.call(.delete, "/resources", ["path": "disk:/Горы.jpg"]).status == .noContent)
    }
}
