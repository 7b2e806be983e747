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
        let larder = try await RunningLarder.start(data: try TemporaryFolder(), settings)
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
