import HTTPTypes
import Sandbox

/// What became of a scenario.
struct ScenarioReport: Sendable {
    /// What became of one step.
    struct Outcome: Sendable {
        let step: Scenario.Step
        let duration: Duration
        var failure: ScenarioFailure?
    }

    let scenario: Scenario
    /// Of the steps that were run.
    var outcomes: [Outcome] = []

    var hasFailed: Bool { outcomes.contains { $0.failure != nil } }

    /// What is printed.
    var text: String {
        var lines = ["\(scenario.file): \(scenario.name)"]
        for outcome in outcomes {
            let step = outcome.step
            let mark = outcome.failure == nil ? "ok  " : "FAIL"
            lines.append("  \(mark) step \(step.number), line \(step.line): \(step.title)")
            lines += (outcome.failure?.lines ?? []).map { "         \($0)" }
        }
        let left = scenario.steps.count - outcomes.count
        if left > 0 { lines.append("  \(left) step\(left == 1 ? "" : "s") not run") }
        return lines.joined(separator: "\n") + "\n"
    }
}

// MARK: - What the controls say

extension ScenarioReport {
    /// Returns why a control was refused; of `verify`, the requests that come nearest.
    static func refusal(of control: Scenario.Control, _ status: Int, _ problem: JSONValue) -> [String] {
        let detail = problem.value(at: "/detail").map(plain) ?? problem.json
        var lines = ["\(control.method.rawValue) \(control.target): \(status) \(detail)"]
        guard case .array(let misses) = problem.value(at: "/near_misses") else { return lines }
        if let expected = control.body { lines.append("expected: \(expected.json)") }
        for miss in misses {
            lines.append("near miss: " + line(of: miss.value(at: "/entry") ?? .null))
            guard case .array(let differences) = miss.value(at: "/differences") else { continue }
            for one in differences {
                let texts = ["/field", "/expected", "/actual"].map { one.value(at: $0).map(plain) ?? "" }
                lines.append("  \(texts[0]): expected \(texts[1]), was \(texts[2])")
            }
        }
        return lines
    }

    /// Returns a journal, a line an entry.
    static func lines(of journal: JSONValue?, title: String) -> [String] {
        guard case .array(let entries) = journal?.value(at: "/entries") else { return ["\(title): not known"] }
        return ["\(title): \(journal?.value(at: "/count")?.json ?? "0")"] + entries.map { "  " + line(of: $0) }
    }

    private static func line(of entry: JSONValue) -> String {
        var words = ["/sequence", "/method", "/path", "/status"].map { entry.value(at: $0).map(plain) ?? "" }
        words[0] = "#" + words[0]
        if let cause = entry.value(at: "/cause"), cause != .null { words.append("because of \(plain(cause))") }
        // As the journal of upstreams says that there was none, and that of clients.
        let none: [JSONValue] = [.string("online"), .string("")]
        if let fault = entry.value(at: "/fault"), !none.contains(fault) { words.append("fault \(plain(fault))") }
        return words.joined(separator: " ")
    }

    private static func plain(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .null: "no response"
        default: value.json
        }
    }
}
