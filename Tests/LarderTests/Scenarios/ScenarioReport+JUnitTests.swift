import Testing

@testable import Larder

@Suite struct ScenarioReportJUnitTests {
    @Test("HARN-26 A report has a case for each step, and of texts only what XML 1.0 allows")
    func report() throws {
        let yaml = "name: <a> & \"b\"\nsteps:\n" + String(repeating: "  - do: {reset: true}\n", count: 3)
        let scenario = try Scenario(yaml: yaml, file: "a&b.yaml")
        var report = ScenarioReport(scenario: scenario)
        report.outcomes = [
            .init(step: scenario.steps[0], duration: .milliseconds(1_007)),
            .init(step: scenario.steps[1], duration: .zero, failure: .init("was <\u{1}>", "\u{FFFF} & more")),
        ]
        let step = #"  <testcase classname="a&amp;b.yaml" name="step"#
        let lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites>",
            #"<testsuite name="&lt;a&gt; &amp; &quot;b&quot;" tests="3" failures="1" skipped="1" time="1.007">"#,
            step + #" 1: POST /_harness/reset" line="3" time="1.007"></testcase>"#,
            step + #" 2: POST /_harness/reset" line="4" time="0.000">"#
                + "<failure message=\"was &lt;\u{FFFD}&gt;\">was &lt;\u{FFFD}&gt;",
            "\u{FFFD} &amp; more</failure></testcase>",
            step + #" 3: POST /_harness/reset" line="5"><skipped/></testcase>"#, "</testsuite>", "</testsuites>", "",
        ]
        #expect(ScenarioReport.junit([report]) == lines.joined(separator: "\n"))
        #expect(report.hasFailed && report.text.contains("FAIL step 2, line 4: POST /_harness/reset"))
        #expect(report.text.hasSuffix("  1 step not run\n"))
    }
}
