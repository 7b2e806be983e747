import Foundation

/// The console blocks of a document: commands, and the output that it shows of each.
struct ConsoleDocument {
    struct Step {
        let command: String
        /// None if the document shows no output.
        let output: [String]
    }

    let steps: [Step]

    init(_ text: String) {
        var (steps, isConsole) = ([(command: String, output: [String])](), false)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                isConsole = line == "```console"
            } else if isConsole, line.hasPrefix("$ ") {
                steps.append((String(line.dropFirst(2)), []))
            } else if isConsole, !steps.isEmpty {
                steps[steps.count - 1].output.append(line)
            }
        }
        self.steps = steps.map { Step(command: $0.command, output: $0.output) }
    }
}

/// An output as printed in a document. `…` marks omitted text; times, tokens, tags, ages and request ids always differ.
struct ShownOutput {
    /// Lines before the body. The document may omit some of them.
    private let head: [String]
    private let body: String

    init(_ lines: [String]) {
        let isBody: (String) -> Bool = { $0.hasPrefix("{") || $0.hasPrefix("[") }
        let hasHead = lines.first?.hasPrefix("HTTP/1.1 ") ?? false || !lines.contains(where: isBody)
        let beginning = hasHead ? lines.firstIndex(where: isBody) ?? lines.count : 0
        head = lines[..<beginning].filter { $0 != "…" && !$0.isEmpty }
        body = lines[beginning...].map { $0.trimmingCharacters(in: .whitespaces) }.joined()
    }

    /// Returns the first difference from an output, apart from the values that vary; nil if there is none.
    func difference(from output: String) throws -> String? {
        let lines = output.replacing("\r\n", with: "\n").split(separator: "\n").map(String.init)
        for wanted in head {
            guard try lines.contains(where: { try Self.matches(wanted, $0) }) else {
                return "there is no line \(wanted)"
            }
        }
        guard !body.isEmpty else { return nil }
        guard let last = lines.last else { return "there is no output" }
        return try Self.matches(body, last) ? nil : "\(body)\nis not\n\(last)"
    }

    private static func matches(_ shown: String, _ text: String) throws -> Bool {
        var (pattern, end) = ("", shown.startIndex)
        for match in shown.matches(of: variable) {
            pattern += literal(shown[end..<match.range.lowerBound]) + form(of: match.0)
            end = match.range.upperBound
        }
        pattern += literal(shown[end...])
        return try Regex(pattern).wholeMatch(in: text) != nil
    }

    /// A time, a token, a tag of a screen, an age with its name, an identity of a request with its name.
    private static var variable: Regex<Substring> {
        /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|[A-Za-z0-9_-]{43}|\d+\.[A-Za-z0-9+\/_-]{20}|Age: \d+|ttl=-?\d+|[iI]d: [a-z0-9]+-\d+/
    }

    private static func form(of value: Substring) -> String {
        if value.hasPrefix("Age: ") { return "Age: \\d+" }
        if value.hasPrefix("ttl=") { return "ttl=-?\\d+" }
        if value.lowercased().hasPrefix("id: ") { return "[iI]d: [a-z0-9]+-\\d+" }
        if value.hasSuffix("Z") && value.count == 20 { return "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ" }
        return value.contains(".") ? "\\d+\\.[A-Za-z0-9+/_-]{20}" : "[A-Za-z0-9_-]{43}"
    }

    private static func literal(_ text: Substring) -> String {
        text.split(separator: "…", omittingEmptySubsequences: false).map {
            NSRegularExpression.escapedPattern(for: String($0))
        }.joined(separator: ".*")
    }
}
