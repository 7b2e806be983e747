import Foundation
import Testing

@testable import Larder

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite struct ScenarioReportJUnitTests {
    /// Counts the elements of a document.
    private final class Counter: NSObject, XMLParserDelegate {
        var names: [String: Int] = [:]
        var failure = ""

        func parser(
            _ parser: XMLParser,
            didStartElement name: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes: [String: String]
        ) {
            names[name, default: 0] += 1
            if name == "failure" { failure = attributes["message"] ?? "" }
        }
    }

    @Test("HARN-26 A report is XML with a case for each step, also if texts have what XML forbids")
    func report() throws {
        let yaml = "name: <a> & \"b\"\nsteps:\n" + String(repeating: "  - do: {reset: true}\n", count: 3)
        let scenario = try Scenario(yaml: yaml, file: "a&b.yaml")
        var report = ScenarioReport(scenario: scenario)
        report.outcomes = [
            .init(step: scenario.steps[0], duration: .milliseconds(1_007)),
            .init(step: scenario.steps[1], duration: .zero, failure: .init("was <\u{1}>", "\u{FFFF} & more")),
        ]
        let xml = ScenarioReport.junit([report])
        #expect(xml.contains(#"tests="3" failures="1" skipped="1" time="1.007""#))
        let (parser, counter) = (XMLParser(data: Data(xml.utf8)), Counter())
        parser.delegate = counter
        #expect(parser.parse())
        #expect(counter.names == ["testsuites": 1, "testsuite": 1, "testcase": 3, "failure": 1, "skipped": 1])
        #expect(counter.failure == "was <\u{FFFD}>")
        #expect(report.hasFailed && report.text.contains("FAIL step 2, line 4: POST /_harness/reset"))
        #expect(report.text.hasSuffix("  1 step not run\n"))
    }
}
