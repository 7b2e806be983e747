import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

/// Mappings of WireMock and HAR files, of our own after their documentation.
@Suite struct StubImportTests {
    private static func wireMock(_ text: String) throws -> StubImport {
        var imported = StubImport()
        try imported.add(wireMock: [("a.json", try JSONParser.parse(Array(text.utf8)))])
        return imported
    }

    private static func exchange(_ rules: [Rule.Definition], _ request: MatchedRequest) -> FaultDecision {
        var set = RuleSet()
        for rule in rules { _ = set.add(rule) }
        return set.decide(request, override: nil).decision
    }

    @Test("HARN-40 a mapping of WireMock becomes a rule with its request, response, delay and template")
    func mapping() throws {
        let imported = try Self.wireMock(
            #"""
            {"id":"8c5db8b0","name":"order","priority":1,"request":{"method":"POST","urlPathTemplate":"/orders/{id}",
              "headers":{"X-Key":{"equalTo":"k"},"X-None":{"absent":true},"Accept":{"matches":".*"}},
              "queryParameters":{"page":{"equalTo":"2"}},"basicAuth":{"username":"u","password":"p"},
              "bodyPatterns":[{"equalToJson":"{\"a\":1}","ignoreExtraElements":true}]},
             "response":{"status":201,"headers":{"Location":"/o/{{request.path.[1]}}","Set-Cookie":["a=1","b=2"]},
              "jsonBody":{"a":"{{jsonPath request.body '$.a'}}","q":"{{request.query.page}}"},
              "delayDistribution":{"type":"lognormal","median":90,"sigma":0.4},"transformers":["response-template"]}}
            """#
        )
        #expect(imported.unmapped.isEmpty)
        let rule = try #require(imported.rules.first)
        let known: JSONValue = [
            "route": "POST /orders/*", "query": ["page": "2"],
            "header": ["x-key": "k", "x-none": false, "accept": true, "authorization": "Basic dTpw"], "body": ["a": 1],
        ]
        #expect(rule.match.json == known)
        #expect(rule.faults.map(\.description) == ["slow(lognormal(90, 0.4))"])
        #expect(rule.respond?.body == .json(["a": "{{body/a}}", "q": "{{query.page}}"]))
        #expect(rule.respond?.header.map(\.value) == ["/o/{{path.1}}", "a=1", "b=2"])
    }

    @Test("HARN-40 of several mappings the first by priority decides, of equal ones the last")
    func order() throws {
        let imported = try Self.wireMock(
            #"""
            {"mappings":[{"request":{"url":"/a?x=1"},"response":{"body":"first"}},
             {"request":{"urlPathPattern":"/a/.*"},"response":{"body":"below"}},
             {"request":{"method":"ANY"},"response":{"body":"rest"},"priority":9},
             {"request":{"urlPath":"/a"},"response":{"body":"last {{no template}}"}}]}
            """#
        )
        let bodies = [["a"], ["a", "b"], ["c"]].map { path in
            Self.exchange(
                imported.rules,
                MatchedRequest(method: "GET", path: path, query: [.init(name: "x", value: "1")])
            )
        }
        #expect(
            bodies.map(\.source)
                == ["last {{no template}}", "below", "rest"].map { text in
                    .stub(StubResponse(body: .text(text), isTemplate: false), count: 1)
                }
        )
    }

    @Test(
        "HARN-40 a fault of WireMock becomes one of Larder",
        arguments: [
            (#""fault":"EMPTY_RESPONSE""#, "offline"), (#""fault":"MALFORMED_RESPONSE_CHUNK""#, "truncated"),
            (#""fault":"RANDOM_DATA_THEN_CLOSE""#, "garbage"), (#""fixedDelayMilliseconds":500"#, "slow(500)"),
            (#""delayDistribution":{"type":"uniform","lower":15,"upper":25}"#, "jitter(15, 25, 1)"),
            (#""body":"12345678","chunkedDribbleDelay":{"numberOfChunks":4,"totalDuration":100}"#, "slice(2, 25)"),
        ]
    )
    func fault(response: String, fault: String) throws {
        let imported = try Self.wireMock(#"{"request":{"url":"/"},"response":{\#(response)}}"#)
        #expect(imported.rules.map { $0.faults[0].description } == [fault] && imported.unmapped.isEmpty)
    }

    @Test(
        "HARN-40 a mapping that no rule has is named with the member, and not imported wider than it is",
        arguments: [
            (#"{"request":{"urlPattern":"/a\\?b=[0-9]+"},"response":{}}"#, "request/urlPattern"),
            (#"{"request":{"urlPattern":"/a.b=1"},"response":{}}"#, "request/urlPattern"),
            (#"{"request":{"urlPattern":"/a[?]b"},"response":{}}"#, "request/urlPattern"),
            (#"{"request":{"urlPattern":"/a%20b"},"response":{}}"#, "request/urlPattern"),
            (#"{"request":{"urlPathPattern":"/a["},"response":{}}"#, "request/urlPathPattern"),
            (#"{"request":{"url":"/","cookies":{"a":{"equalTo":"1"}}},"response":{}}"#, "request/cookies"),
            (#"{"request":{"headers":{"A":{"doesNotMatch":"1"}}},"response":{}}"#, "request/headers/A"),
            (
                #"{"request":{"bodyPatterns":[{"equalToJson":"{}"}]},"response":{}}"#,
                "request/bodyPatterns/0/equalToJson"
            ),
            (#"{"request":{"url":"/"},"response":{"proxyBaseUrl":"http://a"}}"#, "response/proxyBaseUrl"),
            (#"{"request":{"url":"/"},"response":{"bodyFileName":"a.json"}}"#, "response/bodyFileName"),
            (#"{"request":{"url":"/"},"response":{},"scenarioName":"s"}"#, "scenarioName"),
            (
                #"{"request":{"url":"/"},"response":{"fixedDelayMilliseconds":1e300}}"#,
                "response/fixedDelayMilliseconds"
            ),
            (
                #"{"request":{"url":"/"},"response":{"delayDistribution":{"type":"uniform","lower":0,"upper":1e300}}}"#,
                "response/delayDistribution/upper"
            ),
            (
                #"{"request":{"url":"/"},"response":{"delayDistribution":{"type":"lognormal","median":-1}}}"#,
                "response/delayDistribution/median"
            ),
        ]
    )
    func unmapped(mapping: String, member: String) throws {
        let imported = try Self.wireMock(mapping)
        #expect(imported.rules.isEmpty && imported.unmapped == [.init(source: "a.json#0", member: member)])
        #expect(throws: ControlProblem.self) { try Self.wireMock(#"{"a":1}"#) }
    }

    @Test("HARN-40 the exchanges of a HAR file respond in turn; one without its body, or of another host, is named")
    func archive() throws {
        let text = #"""
            {"log":{"version":"1.2","entries":[
             {"request":{"method":"GET","url":"https://a.example/v1/x?p=a%20b","headers":[]},"response":{"status":200,
              "headers":[{"name":":status","value":"200"},{"name":"content-encoding","value":"br"},
               {"name":"ETag","value":"\"1\""}],"content":{"size":8,"mimeType":"application/json","text":"{\"a\":1}"}}},
             {"request":{"method":"GET","url":"https://a.example/v1/x?p=a%20b"},"response":{"status":200,"headers":[],
              "content":{"size":2,"mimeType":"text/plain","text":"aGk=","encoding":"base64"}}},
             {"request":{"method":"GET","url":"https://b.example/"},"response":{"status":200,"content":{}}},
             {"request":{"method":"GET","url":"https://a.example/y"},"response":{"status":200,"content":{"size":9}}},
             {"request":{"method":"GET","url":"https://a.example/z"},"response":{"status":0,"content":{}}}]}}
            """#
        var imported = StubImport()
        try imported.add(archives: [("a.har", try JSONParser.parse(Array(text.utf8)))])
        #expect(imported.rules.map(\.times) == [1, nil])
        #expect(
            imported.rules.map(\.match.json)
                == Array(repeating: ["route": "GET /v1/x", "query": ["p": "a b"], "exact_query": true], count: 2)
        )
        #expect(imported.rules.map(\.respond?.body) == [.bytes(Array(#"{"a":1}"#.utf8)), .bytes(Array("hi".utf8))])
        #expect(imported.rules[0].respond?.header.map(\.name) == ["ETag", "Content-Type"])
        #expect(imported.unmapped.map(\.source) == ["a.har#2", "a.har#3", "a.har#4"])
    }

    @Test("HARN-40 an exchange responds to its own request, and to none with further parameters or members")
    func exact() throws {
        let text = #"""
            {"log":{"entries":[
             {"request":{"method":"POST","url":"https://a.example/x","postData":{"text":"{\"a\":1}"}},
              "response":{"status":201,"content":{}}},
             {"request":{"method":"POST","url":"https://a.example/x?page=2"},"response":{"status":202,"content":{}}}]}}
            """#
        var imported = StubImport()
        try imported.add(archives: [("a.har", try JSONParser.parse(Array(text.utf8)))])
        var request = MatchedRequest(method: "POST", path: ["x"], body: Array(#"{"a":1}"#.utf8))
        let first = Self.exchange(imported.rules, request).source
        #expect(first == .stub(StubResponse(status: 201, isTemplate: false), count: 1))
        request.body = Array(#"{"a":1,"b":2}"#.utf8)
        #expect(Self.exchange(imported.rules, request) == .response)
        request.query = [.init(name: "page", value: "2")]
        let second = Self.exchange(imported.rules, request).source
        #expect(second == .stub(StubResponse(status: 202, isTemplate: false), count: 1))
        let mappings = try Self.wireMock(#"{"request":{"url":"/x"},"response":{}}"#)
        #expect(Self.exchange(mappings.rules, request) == .response)
    }

    @Test("HARN-40 regular expressions of WireMock stay what they are: for whole paths, fields and parameters")
    func patterns() throws {
        let imported = try Self.wireMock(
            #"""
            {"request":{"urlPattern":"/orders/\\d+(\\.json)?","headers":{"Accept":{"contains":"a.b"},
              "X-Any":{"anything":true},"X-Kind":{"matches":"[a-c]+"}}},"response":{}}
            """#
        )
        let match = try #require(imported.rules.first).match
        let known: JSONValue = [
            "path_matches": #"/orders/\d+(\.json)?"#,
            "header": ["accept": ["matches": #"(?s).*a\.b.*"#], "x-any": true, "x-kind": ["matches": "[a-c]+"]],
            "exact_query": true,
        ]
        #expect(match.json == known)
        #expect(try RequestMatch(known) == match)
        var request = MatchedRequest(method: "GET", path: ["orders", "17.json"])
        let names = try ["X-Any", "X-Kind"].map { try #require(HTTPField.Name($0)) }
        request.headers = [names[0]: "1", names[1]: "abc", .accept: "x/y, a.b"]
        #expect(match.matches(request))
        for path in [["orders"], ["orders", "x"], ["orders", "17", "x"]] {
            request.path = path
            #expect(!match.matches(request), "\(path)")
        }
        request.path = ["orders", "17"]
        request.query = [.init(name: "page", value: "2")]
        #expect(!match.matches(request))
        #expect(throws: ControlProblem.self) { try RequestMatch(["path_matches": "("]) }
    }

    @Test("HARN-40 a pattern for a target that ends in anything accepts any parameters")
    func anyQuery() throws {
        for (end, isExact) in [(".*", false), (".+", false), ("b", true)] {
            let imported = try Self.wireMock(#"{"request":{"urlPattern":"/a/\#(end)"},"response":{}}"#)
            #expect(imported.rules.map(\.match.exactQuery) == [isExact])
        }
    }

    @Test("HARN-40 a pattern of everything below a path is not of the path itself")
    func below() throws {
        let imported = try Self.wireMock(#"{"request":{"urlPathPattern":"/a/.*"},"response":{}}"#)
        #expect(Self.exchange(imported.rules, MatchedRequest(method: "GET", path: ["a"])) == .response)
        for path in [["a", "b"], ["a", "b", "c"]] {
            #expect(Self.exchange(imported.rules, MatchedRequest(method: "GET", path: path)) != .response)
        }
    }
}
