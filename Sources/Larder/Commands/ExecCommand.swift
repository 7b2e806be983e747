import ArgumentParser
import Foundation
import Sandbox
import Screens
import Synchronization

/// `larder exec -- COMMAND`: runs a command with a server of its own.
struct ExecCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a command, such as tests, with a server of its own.",
        discussion: """
            The server has simulated upstreams, a free port and a new data
            directory, unless settings say otherwise. Its addresses are in
            LARDER_URL and LARDER_SANDBOX_URL. It stops when the command ends,
            whose exit code is that of this program; what the command leaves
            running is ended. LARDER_SPACES is a JSON array of the spaces that
            --spaces makes beside it: servers that see nothing of each other,
            one for each worker of a test suite. --matrix runs the command once
            for each condition, all at the same time, each with a space that is
            in it from the start and after each reset, and prints what each
            screen was under each; LARDER_CONDITION names the condition. Any
            fault of the sandbox is a condition.

            EXAMPLES
              larder exec -- pytest -q
              larder exec --spaces 4 -- pytest -n 4
              larder exec --freshness-ships-s 60 -- npm test
              larder exec --matrix offline,slow,flaky,401,500 -- npm test
              larder exec --coverage 40 -- pytest -q

            \(SettingsOptions.help)
            """
    )

    @Option(name: .long, help: ArgumentHelp("Make as many spaces beside the server.", valueName: "count"))
    var spaces = 0

    @Option(name: .long, help: ArgumentHelp("Run the command once for each condition.", valueName: "conditions"))
    var matrix: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Print which responses of the contract were met; exit code 1 if fewer of a hundred.",
            valueName: "percent"
        )
    )
    var coverage: Int?

    @OptionGroup var options: SettingsOptions

    /// Whether a command line is that of this command.
    static func isMeant(by arguments: [String]) -> Bool { arguments.first == configuration.commandName }

    /// Returns the arguments before the first `--`, which are options, and those after it.
    static func split(_ arguments: [String]) -> (own: [String], command: [String]) {
        let own = arguments.prefix { $0 != "--" }
        return (Array(own), Array(arguments.dropFirst(own.count + 1)))
    }

    func run() async throws {
        let words = Self.split(Array(CommandLine.arguments.dropFirst())).command
        guard !words.isEmpty else {
            throw ExitCode.reporting("a command comes behind --, such as larder exec -- pytest", .validationFailure)
        }
        try checkOptions()
        let conditions = try matrix.map(Self.conditions) ?? []
        let folder = URL.temporaryDirectory.appending(path: "larder-exec-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let command = ExecutedCommand(words, spaces: spaces, conditions: conditions, in: folder)
        let configuration = try options.loadTemporary(standardData: folder)
        let met = conditions.isEmpty && coverage == nil ? nil : FrontCoverage()
        try await ServedProcess(configuration, coverage: met, during: command.run).run()
        let code = command.exitCode ?? EXIT_FAILURE
        guard let met else { throw ExitCode(code) }
        if !conditions.isEmpty { StandardOutput.write(MatrixReport(command.runs, met).text) }
        guard let coverage else { throw ExitCode(code) }
        let report = try ContractCoverage(of: configuration.apps.contract().root, met: met.met())
        StandardOutput.write(report.text)
        throw ExitCode(code == 0 && report.percent < coverage ? EXIT_FAILURE : code)
    }

    private func checkOptions() throws {
        let refusal: String?
        if !(0...Spaces.limit).contains(spaces) {
            refusal = "--spaces is \(spaces); accepted: 0…\(Spaces.limit)"
        } else if spaces > 0, matrix != nil {
            refusal = "--spaces and --matrix exclude each other: a matrix makes a space for each condition"
        } else if let coverage, !(0...100).contains(coverage) {
            refusal = "--coverage is \(coverage); accepted: 0…100"
        } else {
            refusal = nil
        }
        if let refusal { throw ExitCode.reporting(refusal, .validationFailure) }
    }

    /// Parses `--matrix`. Commas within parentheses are part of a fault.
    static func conditions(of text: String) throws -> [HarnessCondition] {
        do {
            return try HarnessCondition.list(text)
        } catch {
            throw ExitCode.reporting("--matrix: \(error)", .validationFailure)
        }
    }
}

/// A command that runs in a process group of its own until the server stops.
final class ExecutedCommand: Sendable {
    private let words: [String]
    private let spaceCount: Int
    private let conditions: [HarnessCondition]
    private let folder: URL
    private let done = Mutex<[Run]>([])

    /// - Parameters:
    ///   - words: The command and its arguments.
    ///   - spaces: The number of its spaces.
    ///   - conditions: The command runs in a space under each of them; once in the server if there are none.
    ///   - folder: The folder for its output under conditions.
    init(_ words: [String], spaces: Int, conditions: [HarnessCondition], in folder: URL) {
        self.words = words
        spaceCount = spaces
        self.conditions = conditions
        self.folder = folder
    }

    struct Run: Sendable {
        /// The condition as the user has written it; empty for none.
        let condition: String
        /// The exit code in the form of a shell.
        let code: Int32
        /// Its output; empty if the output was written to the streams of this process.
        let output: String
    }

    /// The runs that have ended, in the order of the conditions.
    var runs: [Run] {
        let order = conditions.map(\.text)
        return done.withLock(\.self).sorted {
            (order.firstIndex(of: $0.condition) ?? 0) < (order.firstIndex(of: $1.condition) ?? 0)
        }
    }

    /// The greatest exit code in the form of a shell; nil if the command was not started.
    var exitCode: Int32? { runs.map(\.code).max() }

    /// Runs the command after its spaces were made.
    @Sendable func run(_ addresses: ServerAddresses, _ spaces: (any HarnessedSpaces)?) async throws {
        guard conditions.isEmpty else { return try await runAll(in: spaces) }
        let spaces = try await makeSpaces(in: spaces)
        let process = try CommandProcess(
            words,
            environment: Self.environment(addresses.server, addresses.sandbox, spaces)
        )
        let code = await process.endedWithServer()
        done.withLock { $0.append(Run(condition: "", code: code, output: "")) }
    }

    /// Runs the command under all conditions at once.
    private func runAll(in spaces: (any HarnessedSpaces)?) async throws {
        guard let spaces else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for condition in conditions {
                group.addTask { try await self.run(under: condition, in: spaces) }
            }
            try await group.waitForAll()
        }
    }

    private func run(under condition: HarnessCondition, in spaces: any HarnessedSpaces) async throws {
        var order = SpaceOrder()
        order.idle = nil
        order.condition = condition
        let space = try await spaces.make(order)
        var variables = Self.environment(space.url, space.sandbox, [])
        variables["LARDER_CONDITION"] = condition.text
        let output = folder.appending(path: "\(space.name).output")
        let process = try CommandProcess(words, environment: variables, output: output)
        let code = await process.endedWithServer()
        let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        done.withLock { $0.append(Run(condition: condition.text, code: code, output: text)) }
    }

    /// Makes the spaces, which end with the command.
    private func makeSpaces(in spaces: (any HarnessedSpaces)?) async throws -> [SpaceDescription] {
        var order = SpaceOrder()
        order.idle = nil
        var made: [SpaceDescription] = []
        while let spaces, made.count < spaceCount { made.append(try await spaces.make(order)) }
        return made
    }

    /// The variables of this process, and the addresses.
    private static func environment(_ server: String, _ sandbox: String?, _ spaces: [SpaceDescription])
        -> [String: String]
    {
        var variables = ProcessInfo.processInfo.environment
        variables["LARDER_URL"] = server
        variables["LARDER_SANDBOX_URL"] = sandbox
        variables["LARDER_SPACES"] = "[\(spaces.map(\.json).joined(separator: ","))]"
        return variables
    }
}
