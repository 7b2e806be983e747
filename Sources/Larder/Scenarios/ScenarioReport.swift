import HTTPTypes
import JSONValues
import Sandbox

struct ScenarioReport: Sendable {
    /// The result of one step.
    struct Outcome: Sendable {
        let step: Scenario.Step
        let duration: Duration
        var failure: ScenarioFailure?
    }

    let scenario: Scenario
    /// The outcomes of the steps that were run.
    var outcomes: [Outcome] = []

    var hasFailed: Bool { outcomes.contains { $0.failure != nil } }

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

// MARK: - Responses of the controls

extension ScenarioReport {
    /// Returns why a control was refused. For `verify` this includes the nearest requests.
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

    /// Returns a journal, one line for each entry.
    static func lines(of journal: JSONValue?, title: String) -> [String] {
        guard case .array(let entries) = journal?.value(at: "/entries") else { return ["\(title): not known"] }
        return ["\(title): \(journal?.value(at: "/count")?.json ?? "0")"] + entries.map { "  " + line(of: $0) }
    }

    private static func line(of entry: JSONValue) -> String {
        var words = ["/sequence", "/method", "/path", "/status"].map { entry.value(at: $0).map(plain) ?? "" }
        words[0] = "#" + words[0]
        if let cause = entry.value(at: "/cause"), cause != .null { words.append("because of \(plain(cause))") }
        // Values of entries without a fault: in the journal of upstreams, and in that of clients.
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

    /// Returns reports as JUnit XML, one test case for each step.
    static func junit(_ reports: [ScenarioReport]) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            + reports.map(\.suite).joined() + "</testsuites>\n"
    }

    private var suite: String {
        let steps = scenario.steps
        let seconds = outcomes.reduce(Duration.zero) { $0 + $1.duration }.text
        let failures = outcomes.count { $0.failure != nil }
        var lines = [
            "<testsuite name=\"\(Self.escaped(scenario.name))\" tests=\"\(steps.count)\" failures=\"\(failures)\" "
                + "skipped=\"\(steps.count - outcomes.count)\" time=\"\(seconds)\">"
        ]
        for (index, step) in steps.enumerated() {
            let outcome = outcomes.indices.contains(index) ? outcomes[index] : nil
            let name = Self.escaped("step \(step.number): \(step.title)")
            let time = outcome.map { " time=\"\($0.duration.text)\"" } ?? ""
            lines.append(
                "  <testcase classname=\"\(Self.escaped(scenario.file))\" name=\"\(name)\""
                    + " line=\"\(step.line)\"\(time)>" + (outcome.map(Self.content) ?? "<skipped/>") + "</testcase>"
            )
        }
        return lines.joined(separator: "\n") + "\n</testsuite>\n"
    }

    private static func content(_ outcome: Outcome) -> String {
        guard let failure = outcome.failure else { return "" }
        return "<failure message=\"\(escaped(failure.lines.first ?? ""))\">"
            + escaped(failure.lines.joined(separator: "\n")) + "</failure>"
    }

    /// Returns a text escaped for XML 1.0, without the characters that XML forbids.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\t", "\n": escaped.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || (0xFFFE...0xFFFF).contains(scalar.value): escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Duration {
    /// Seconds with three digits.
    fileprivate var text: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
