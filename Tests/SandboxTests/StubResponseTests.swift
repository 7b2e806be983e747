import Foundation
import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct StubResponseTests {
    private static func rule(_ text: String) throws -> Rule.Definition {
        try Rule.Definition(try JSONParser.parse(Array(text.utf8)))
    }

    @Test("HARN-35 a response of a rule has parts of the request, JSON values as such, and how often it was given")
    func template() throws {
        let rule = try Self.rule(
            #"""
            {"match":{"method":"POST","path":"/orders"},"respond":{"status":201,
             "header":{"Location":"/orders/{{path.1}}","X-City":"{{query.city}} {{header.accept-language}}"},
             "json":{"id":"{{path.1}}-{{count}}","quantity":"{{body/items/0/quantity}}","none":"{{body/no}}",
                     "text":"{{method}} {{path}} at {{now}}"}}}
            """#
        )
        let respond = try #require(rule.respond)
        #expect(rule.faults == [.online] && rule.times == nil)
        let request = UpstreamRequest(
            method: .post,
            path: ["orders", "7"],
            form: [.init(name: "city", value: "Oslo")],
            headers: [.acceptLanguage: "nb"],
            body: Array(#"{"items":[{"quantity":2.50}]}"#.utf8),
            origin: ""
        )
        let response = respond.response(to: request, count: 3, at: Date(timeIntervalSince1970: 0))
        #expect(response.status.code == 201 && response.headers[.location] == "/orders/7")
        #expect(HTTPField.Name("X-City").flatMap { response.headers[$0] } == "Oslo nb")
        let text = #"{"id":"7-3","quantity":2.50,"none":null,"text":"POST /orders/7 at 1970-01-01T00:00:00.000Z"}"#
        #expect(String(decoding: response.body, as: UTF8.self) == text)
    }

    @Test("HARN-35 a rule tells its response as it was given; what could not be one is refused with what is accepted")
    func readBack() throws {
        let respond = #"{"status":404,"header":{"A":"{{x}}"},"text":"{{y}}","template":false}"#
        let rule = try Self.rule(#"{"respond":\#(respond),"fault":"slow(5)","times":2}"#)
        #expect(rule.respond?.json == (try JSONParser.parse(Array(respond.utf8))))
        #expect(rule.faults == [FaultPlan(.slow(milliseconds: 5))] && rule.times == 2)
        for wrong in [
            #"{"status":99}"#, #"{"json":1,"text":""}"#, #"{"text":"{{nothing}}"}"#, #"{"body":"x"}"#,
            #"{"base64":"?"}"#, #"{"header":{"a b":"c"}}"#, #"{"header":{"a":1}}"#,
        ] {
            #expect(throws: ControlProblem.self, "\(wrong)") { try Self.rule(#"{"respond":\#(wrong)}"#) }
        }
        #expect(throws: ControlProblem.self) { try Self.rule(#"{"match":{}}"#) }
    }

    @Test("HARN-35 a rule responds so many times, also behind its fault, then the next rule or the upstream does")
    func turns() throws {
        var rules = RuleSet()
        _ = rules.add(try Self.rule(#"{"respond":{"text":"{{count}}"},"times":2}"#))
        _ = rules.add(try Self.rule(#"{"match":{"path":"/a"},"respond":{"text":"x"},"fault":"error(503)"}"#))
        let counts = (0..<2).map { _ in rules.decide(MatchedRequest(method: "GET", path: []), override: nil).decision }
        #expect(counts.map(\.source) == [1, 2].map { .stub(StubResponse(body: .text("{{count}}")), count: $0) })
        let third = rules.decide(MatchedRequest(method: "GET", path: ["a"]), override: nil)
        #expect(third.decision.source == .status(503, retryAfter: nil))
        #expect(rules.decide(MatchedRequest(method: "GET", path: ["b"]), override: nil).decision == .response)
    }

    @Test("HARN-35 the fault of the upstream comes before a response, unless its rule has a fault of its own")
    func faultOfTheUpstream() throws {
        var rules = RuleSet()
        _ = rules.add(try Self.rule(#"{"match":{"path":"/a"},"respond":{"text":"x"}}"#))
        _ = rules.add(try Self.rule(#"{"match":{"path":"/b"},"respond":{"text":"x"},"faults":["online"]}"#))
        rules.set(FaultPlan(.offline))
        let offline = rules.decide(MatchedRequest(method: "GET", path: ["a"]), override: nil)
        #expect(offline.decision.source == .none && offline.rule == 1 && offline.plan == FaultPlan(.offline))
        let own = rules.decide(MatchedRequest(method: "GET", path: ["b"]), override: nil).decision
        #expect(own.source == .stub(StubResponse(body: .text("x")), count: 1))
        rules.set(FaultPlan(.slow(milliseconds: 5)))
        let slow = rules.decide(MatchedRequest(method: "GET", path: ["a"]), override: nil).decision
        #expect(slow.delay == 5 && slow.source == .stub(StubResponse(body: .text("x")), count: 2))
    }

    @Test("HARN-35 a request that was held before a rule responds meets the fault of the upstream when it is released")
    func released() throws {
        var rules = RuleSet()
        _ = rules.add(try Self.rule(#"{"respond":{"text":"x"}}"#))
        rules.set(FaultPlan(.hold))
        let held = rules.decide(MatchedRequest(method: "GET", path: []), override: nil)
        #expect(held.decision.isHeld)
        let released = rules.decide(released: held).decision
        #expect(!released.isHeld && released.source == .stub(StubResponse(body: .text("x")), count: 1))
        rules.set(FaultPlan(.offline))
        #expect(rules.decide(released: held).decision.source == .none)
    }

    @Test("HARN-35 a response that repeats its request too often is refused with its reason")
    func endless() throws {
        let respond = try #require(try Self.rule(#"{"respond":{"text":"{{body}}{{body}}{{body}}"}}"#).respond)
        var request = UpstreamRequest(method: .post, path: [], body: Array("ab".utf8), origin: "")
        #expect(respond.response(to: request, count: 1, at: Date()).body == Array("ababab".utf8))
        request.body = Array(repeating: UInt8(ascii: "a"), count: 1 << 20)
        let many = StubResponse(body: .text(String(repeating: "{{body}}", count: 17)))
        let response = many.response(to: request, count: 1, at: Date())
        #expect(response.status.code == 500 && response.body.count < 200)
    }
}
