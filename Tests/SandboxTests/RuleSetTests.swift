import Testing

@testable import Sandbox

@Suite struct RuleSetTests {
    private func request(_ path: String...) -> MatchedRequest { MatchedRequest(method: "GET", path: path) }

    private func rule(_ faults: String..., match: RequestMatch = RequestMatch(), times: Int? = nil, after: Int = 0)
        throws -> Rule.Definition
    {
        let plans = try faults.map { try FaultPlan(parsing: $0) }
        return Rule.Definition(match: match, faults: plans, isSequence: plans.count > 1, times: times, after: after)
    }

    @Test("HARN-09 the first rule that fits decides, else the upstream's own fault")
    func order() throws {
        var rules = RuleSet()
        rules.set(FaultPlan(.truncated))
        _ = rules.add(try rule("error(500)", match: RequestMatch(path: ["v4", "ships"])))
        _ = rules.add(try rule("error(501)", match: RequestMatch(path: ["v4"])))
        let plans = [request("v4", "ships", "x"), request("v4"), request("v5", "ships")].map { request in
            rules.decide(request, override: nil).plan.description
        }
        #expect(plans == ["error(500)", "error(501)", "truncated"])
        #expect(rules.rules.map(\.applied) == [1, 1])
    }

    @Test("HARN-10 a rule that is used up leaves its requests to the next one")
    func times() throws {
        var rules = RuleSet()
        _ = rules.add(try rule("error(500)", times: 2))
        _ = rules.add(try rule("error(501)", times: 1, after: 1))
        let plans = (0..<6).map { _ in rules.decide(request("a"), override: nil).plan.description }
        #expect(plans == ["error(500)", "error(500)", "online", "error(501)", "online", "online"])
        #expect(rules.rules.map(\.left) == [0, 0])
        #expect(rules.rules.map(\.matched) == [2, 2])
    }

    @Test("a sequence begins again if times are more than it has")
    func sequence() throws {
        var rules = RuleSet()
        _ = rules.add(try rule("error(500)", "online", times: 3))
        let plans = (0..<4).map { _ in rules.decide(request("a"), override: nil) }
        #expect(plans.map(\.plan.description) == ["error(500)", "online", "error(500)", "online"])
        #expect(plans.map(\.rule) == [1, 1, 1, nil])
    }

    @Test("a request's own fault is counted by no rule")
    func override() throws {
        var rules = RuleSet()
        _ = rules.add(try rule("error(500)"))
        #expect(rules.decide(request("a"), override: FaultPlan(.hold)).plan == FaultPlan(.hold))
        #expect(rules.rules[0].matched == 0)
    }

    @Test("the same requests are decided the same way again")
    func deterministic() throws {
        var first = RuleSet()
        _ = first.add(try rule("flaky(0.5, 7)", "jitter(0, 100, 3)", times: 40))
        var second = first
        let decide = { (rules: inout RuleSet) in (0..<50).map { _ in rules.decide(self.request("a"), override: nil) } }
        #expect(decide(&first) == decide(&second))
        #expect(first == second)
    }

    @Test("a number of a rule is never used again, and there are at most so many")
    func numbers() throws {
        var rules = RuleSet()
        let definition = try rule("online")
        for _ in 0..<RuleSet.capacity { _ = rules.add(definition) }
        #expect(rules.add(definition) == nil)
        #expect(rules.remove(RuleSet.capacity) == true)
        #expect(rules.remove(RuleSet.capacity) == false)
        #expect(rules.add(definition)?.id == RuleSet.capacity + 1)
        rules.removeAll()
        #expect(rules.rules.isEmpty)
    }
}
