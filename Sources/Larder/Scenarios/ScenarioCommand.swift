import ArgumentParser
import Foundation
import NIOPosix
import Sandbox
import ServiceLifecycle
import Synchronization
import Upstream

/// `larder scenario`: scenarios in files.
struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "Run scenarios: steps in a file, and what is expected of them.",
        subcommands: [ScenarioRunCommand.self, ScenarioFromJournalCommand.self]
    )
}

/// `larder scenario run`: runs files, each on a server without data.
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
            StandardError.write("larder: a file is missing, such as larder scenario run outage.yaml\n")
            throw ExitCode.validationFailure
        }
        let scenarios = try files.map(Self.read)
        let folder = URL.temporaryDirectory.appending(path: "larder-scenario-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = ScenarioService(scenarios)
        let process = ServedProcess(
            configuration: try options.loadTemporary(standardData: folder, alwaysFor: "a scenario"),
            simulatesUpstreams: true,
            isHarness: true,
            announced: { addresses, _ in service.begin(addresses) },
            companion: service
        )
        try await process.run()
        let reports = service.reports
        if let junit { try Data(ScenarioReport.junit(reports).utf8).write(to: URL(filePath: junit)) }
        guard reports.count == scenarios.count, !reports.contains(where: \.hasFailed) else { throw ExitCode.failure }
    }

    private static func read(_ path: String) throws -> Scenario {
        do {
            let text = try GivenFile.text(path, atMost: Scenario.largestFile, pipes: true)
            return try Scenario(yaml: text, file: path)
        } catch let error as ScenarioSyntaxError {
            StandardError.write("larder: \(error)\n")
        } catch GivenFile.Defect.tooLong(let limit) {
            StandardError.write("larder: \(path) has more than \(limit) bytes\n")
        } catch {
            StandardError.write("larder: \(path) cannot be read\n")
        }
        throw ExitCode(65)
    }
}

/// Runs scenarios beside a server, which ends with them.
final class ScenarioService: Service {
    private let scenarios: [Scenario]
    private let done = Mutex<[ScenarioReport]>([])
    private let (servers, announcing) = AsyncStream.makeStream(of: ServerAddresses.self)

    init(_ scenarios: [Scenario]) { self.scenarios = scenarios }

    /// The reports of the scenarios that were run.
    var reports: [ScenarioReport] { done.withLock(\.self) }

    @Sendable func begin(_ addresses: ServerAddresses) { announcing.yield(addresses) }

    func run() async throws {
        var iterator = servers.cancelOnGracefulShutdown().makeAsyncIterator()
        guard let addresses = await iterator.next(), let port = addresses.sandboxPort else { return }
        let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(5))
        let run = ScenarioRun(server: addresses.server, sandbox: "http://127.0.0.1:\(port)", transport: transport)
        do {
            for scenario in scenarios {
                let report = try await run.run(scenario)
                StandardOutput.announce(report.text)
                done.withLock { $0.append(report) }
            }
        } catch {
            try await transport.shutdown()
            throw error
        }
        try await transport.shutdown()
    }
}
