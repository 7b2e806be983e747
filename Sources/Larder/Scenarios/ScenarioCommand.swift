import ArgumentParser
import Foundation
import Sandbox
import Synchronization
import Upstream

/// `larder scenario`: runs and makes scenarios in files.
struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "Run scenarios: steps in a file, and what is expected of them.",
        subcommands: [ScenarioRunCommand.self, ScenarioFromJournalCommand.self]
    )
}

/// `larder scenario run`: runs files, each on a server with empty data.
struct ScenarioRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run files of steps on a server of their own, which is reset for each.",
        discussion: """
            docs/harness.md describes the files. The server has simulated
            upstreams, a free port and a new data directory. The exit code is 1
            if a step failed, and 65 if a file is no scenario.

            EXAMPLES
              larder scenario run outage.yaml
              larder scenario run scenarios/*.yaml --junit out.xml
              larder scenario run outage.yaml --freshness-ships-s 0

            \(SettingsOptions.help)
            """
    )

    @Option(name: .long, help: ArgumentHelp("Write a report as JUnit's XML.", valueName: "file"), completion: .file())
    var junit: String?

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        var options = options
        let files = options.takeOperands()
        guard !files.isEmpty else {
            throw ExitCode.reporting("a file is missing, such as larder scenario run outage.yaml", .validationFailure)
        }
        let scenarios = try files.map(Self.read)
        let folder = URL.temporaryDirectory.appending(path: "larder-scenario-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = try options.loadTemporary(standardData: folder, alwaysFor: "a scenario")
        let done = Mutex<[ScenarioReport]>([])
        try await ServedProcess(configuration) { addresses, _ in
            guard let sandbox = addresses.sandbox else { return }
            try await HTTPClientTransport.during { transport in
                let run = ScenarioRun(server: addresses.server, sandbox: sandbox, transport: transport)
                for scenario in scenarios {
                    let report = try await run.run(scenario)
                    StandardOutput.announce(report.text)
                    done.withLock { $0.append(report) }
                }
            }
        }.run()
        let reports = done.withLock(\.self)
        if let junit { try Data(ScenarioReport.junit(reports).utf8).write(to: URL(filePath: junit)) }
        guard reports.count == scenarios.count, !reports.contains(where: \.hasFailed) else { throw ExitCode.failure }
    }

    private static func read(_ path: String) throws -> Scenario {
        do {
            let text = try GivenFile.text(path, atMost: Scenario.largestFile, pipes: true)
            return try Scenario(yaml: text, file: path)
        } catch let error as ScenarioSyntaxError {
            throw ExitCode.reporting("\(error)", .unusableInput)
        } catch GivenFile.Defect.tooLong(let limit) {
            throw ExitCode.reporting("\(path) has more than \(limit) bytes", .unusableInput)
        } catch {
            throw ExitCode.reporting("\(path) cannot be read", .unusableInput)
        }
    }
}
