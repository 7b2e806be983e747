import Foundation
import Subprocess
import TestKit
import Testing

/// The commands in documents, as a reader pastes them: with the real executable, its sandbox, bash and curl.
@Suite(.timeLimit(.minutes(5))) struct ConsoleTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Runs commands of a document in their order, each with the variables of those before. Nothing in them is changed
    /// but the ports.
    private struct Shell {
        let larder: RunningLarder
        let sandbox: String
        let folder: TemporaryFolder

        func check(_ step: ConsoleDocument.Step, in path: String) async throws {
            // A command in the background must not keep a pipe of this test open.
            let isAside = step.command.hasSuffix(" &") || step.command.hasPrefix("curl -N")
            let output = try await run(isAside ? "{\n\(step.command)\n} >/dev/null 2>&1 &" : step.command)
            if step.output.isEmpty {
                #expect(!output.contains(#""state":"error""#), "\(path): \(step.command)\n\(output)")
            } else {
                let difference = try ShownOutput(step.output).difference(from: output)
                #expect(difference == nil, "\(path): \(step.command)\n\(difference ?? "")")
            }
        }

        func run(_ command: String) async throws -> String {
            var command = command.replacing("http://127.0.0.1:8080", with: larder.client.base)
            command = command.replacing("http://127.0.0.1:9000", with: sandbox)
            let script = "cd '\(folder.path)'\nsource ./variables 2>/dev/null\n\(command)\ndeclare -p >./variables"
            let result = try await Subprocess.run(
                .name("bash"),
                arguments: ["-c", script],
                output: .string(limit: 1 << 20),
                error: .string(limit: 1 << 16)
            )
            return result.standardOutput
        }
    }

    @Test(
        "Every command of a document works as it is pasted, and responds as the document shows",
        arguments: ["README.md", "docs/tour.md", "docs/sandbox.md", "docs/apps/shop.md", "docs/apps/notes.md"]
    )
    func commands(path: String) async throws { try await Self.check(path) }

    @Test("HOUSE-02 the commands of docs/your-own-app.md work: the program of an app of one file, online and offline")
    func ownApp() async throws {
        try await RunningProcess.$program.withValue("weather") { try await Self.check("docs/your-own-app.md") }
    }

    private static func check(_ path: String) async throws {
        let settings = ["--sandbox", "--freshness-ships-s", "3600", "--upstreams-spacex-probe-interval-ms", "50"]
        let larder = try await RunningLarder.start(settings)
        let control = try await larder.process.line(after: "sandbox on ")
        let folder = try TemporaryFolder()
        let shell = Shell(larder: larder, sandbox: control.replacing("/_sandbox", with: ""), folder: folder)
        let document = ConsoleDocument(try String(contentsOf: root.appending(path: path), encoding: .utf8))
        let steps = document.steps.filter { !$0.command.hasPrefix("script/") }
        #expect(steps.count > 2)
        for step in steps { try await shell.check(step, in: path) }
    }

    @Test("What a document shows is compared, but for what it leaves out and what varies")
    func comparison() throws {
        let output = "HTTP/1.1 200 OK\r\nAge: 7\r\nETag: \"3.aaaaaaaaaabbbbbbbbbb\"\r\n\r\n{\"a\":[1,2],\"b\":\"c d\"}"
        let shown = [
            "HTTP/1.1 200 OK", "ETag: \"1.cccccccccccccccccccc\"", "Age: 0", "…", "{\"a\":[1,…],", "  \"b\":\"c d\"}",
        ]
        #expect(try ShownOutput(shown).difference(from: output) == nil)
        for wrong in [["HTTP/1.1 304 Not Modified"], ["Age: 0", "…", "{\"a\":[2,…}"], ["{\"a\":[1],…}"]] {
            #expect(try ShownOutput(wrong).difference(from: output) != nil, "\(wrong)")
        }
    }
}

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
