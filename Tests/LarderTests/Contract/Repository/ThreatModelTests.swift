import Foundation
import Testing

/// Each protection in docs/threat-model.md names tests that show it. They have to exist.
@Suite struct ThreatModelTests {
    /// A suite, and words of the names of its tests.
    private struct Reference: Equatable {
        let suite: String
        var names: [String] = []
    }

    /// Returns the references of a cell of the last column: suites in backticks, each followed by names in quotes.
    private static func references(in cell: Substring) -> [Reference] {
        cell.matches(of: /`(?:[A-Za-z]+\/)?([A-Za-z0-9+]+Tests)`|"([^"]+)"/).reduce(into: []) { result, match in
            if let suite = match.1 {
                result.append(Reference(suite: String(suite)))
            } else if let name = match.2, !result.isEmpty {
                result[result.count - 1].names += name.split(separator: "…").map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
            }
        }
    }

    /// Returns the names of the tests of a file.
    private static func names(in source: String) -> [String] {
        source.replacing(/"\s*\+\s*"/, with: "").matches(of: /@Test\(\s*"((?:[^"\\]|\\.)*)"/).map { String($0.1) }
    }

    /// Returns the references to tests that do not exist.
    private static func faults(in row: Substring, _ tests: [String: [String]]) -> [String] {
        let cell = row.split(separator: " | ").last ?? ""
        let references = references(in: cell)
        guard !references.isEmpty else {
            let saysNone = cell.hasPrefix("–") || cell.hasPrefix("the same")
            return saysNone ? [] : ["no test: \(cell)"]
        }
        return references.flatMap { reference in
            guard let names = tests[reference.suite] else { return ["there is no \(reference.suite)"] }
            return reference.names.filter { wanted in !names.contains { $0.localizedCaseInsensitiveContains(wanted) } }
                .map { "\(reference.suite) has no test \"\($0)\"" }
        }
    }

    @Test("SRV-11 each test that the threat model names exists, and each line names one or says that there is none")
    func named() throws {
        var tests: [String: [String]] = [:]
        for path in Repository.files(in: "Tests", suffixes: [".swift"]) {
            let source = try Repository.text("Tests/\(path)")
            let file = String(path.split(separator: "/").last?.dropLast(".swift".count) ?? "")
            let suites = source.matches(of: /struct (\w+Tests)\b/).map { String($0.1) }
            for name in Set(suites + [file]) { tests[name, default: []] += Self.names(in: source) }
        }
        let rows = try Repository.text("docs/threat-model.md").split(separator: "\n")
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| threat |") }
        #expect(rows.count > 80)
        for row in rows { #expect(Self.faults(in: row, tests) == [], "\(row.prefix(80))") }
    }

    @Test("a suite or a test that is not there is found, and so is a line without any")
    func planted() {
        let tests = ["GuardTests": Self.names(in: #"@Test("SRV-11 a \"foreign\" host gets 403, " + "always")"#)]
        let right = #"| a | b | `EndToEnd/GuardTests` "host gets 403, always", "… gets 403" |"#
        #expect(Self.faults(in: right[...], tests) == [])
        #expect(Self.faults(in: "| a | **none** | – |", tests) == [])
        #expect(Self.faults(in: #"| a | b | `GuardTests` "is served …" |"#, tests).count == 1)
        #expect(Self.faults(in: "| a | b | `GuardTests`, `OtherTests` |", tests) == ["there is no OtherTests"])
        #expect(Self.faults(in: "| a | b | tried by hand |", tests).count == 1)
    }
}
