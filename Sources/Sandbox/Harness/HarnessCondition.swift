/// The faults of a server and its upstreams at the start and after each reset.
package struct HarnessCondition: Sendable, Equatable {
    /// As it was written.
    package let text: String
    /// Of every upstream.
    let upstreams: RuleSet
    /// Of the server, as its clients see it.
    let front: RuleSet

    private static let words = ["slow": "slow(400)", "flaky": "flaky(0.5, 1)"]

    /// Parses conditions that are separated by commas outside of parentheses.
    ///
    /// - Throws: ``ControlProblem``.
    package static func list(_ text: String) throws -> [HarnessCondition] {
        let conditions = try FaultPlan.members(of: text).map { try HarnessCondition(parsing: $0.trimmed) }
        let texts = conditions.map(\.text)
        if let twice = texts.first(where: { one in texts.count { $0 == one } > 1 }) {
            throw ControlProblem.invalid(field: "condition", value: twice, accepted: ["each condition once"])
        }
        return conditions
    }

    /// Parses `offline`, `slow`, `flaky`, a status, or any fault. The statuses 401 and 403 become faults of the server,
    /// on all routes but the one that creates sessions. Upstreams do not have them, because they do not know its users.
    ///
    /// - Throws: ``ControlProblem``.
    package init(parsing text: String) throws {
        let word = Int(text) == nil ? Self.words[text] ?? text : "error(\(text))"
        let plan: FaultPlan
        do throws(FaultSyntaxError) {
            plan = try FaultPlan(parsing: word)
        } catch {
            let words = ["offline", "slow", "flaky", "401", "500"]
            throw ControlProblem.invalid(field: "condition", value: text, accepted: words + FaultSyntaxError.accepted)
        }
        self.text = text
        var (upstreams, front) = (RuleSet(), RuleSet())
        if text == "401" || text == "403" {
            for (route, faults) in [("POST /v1/{app}/session", FaultPlan.online), ("/v1/**", plan)] {
                _ = front.add(.init(match: try FrontRoute.match(route), faults: [faults]))
            }
        } else {
            upstreams.set(plan)
        }
        (self.upstreams, self.front) = (upstreams, front)
    }
}
