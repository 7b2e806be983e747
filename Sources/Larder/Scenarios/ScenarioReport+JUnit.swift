extension ScenarioReport {
    /// Returns reports as JUnit's XML, a test case a step.
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

    /// Returns a text as XML 1.0 has it, without the characters that it forbids.
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
