import ArgumentParser
import Foundation
import Settings

/// `larder exec -- COMMAND`: a command with a server of its own.
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
            one for each worker of a test suite.

            EXAMPLES
              larder exec -- pytest -q
              larder exec --spaces 4 -- pytest -n 4
              larder exec --freshness-ships-s 60 -- npm test

            \(SettingsOptions.table)
            """
    )

    @Option(name: .long, help: ArgumentHelp("Make as many spaces beside the server.", valueName: "count"))
    var spaces = 0

    @OptionGroup var options: SettingsOptions

    /// Whether a command line is that of this command.
    static func isMeant(by arguments: [String]) -> Bool { arguments.first == configuration.commandName }

    /// Returns the arguments before the first `--`, which are options, and those behind it.
    static func split(_ arguments: [String]) -> (own: [String], command: [String]) {
        let own = arguments.prefix { $0 != "--" }
        return (Array(own), Array(arguments.dropFirst(own.count + 1)))
    }

    func run() async throws {
        let words = Self.split(Array(CommandLine.arguments.dropFirst())).command
        guard !words.isEmpty else {
            StandardError.write("larder: a command comes behind --, such as larder exec -- pytest\n")
            throw ExitCode.validationFailure
        }
        guard (0...Spaces.limit).contains(spaces) else {
            StandardError.write("larder: --spaces is \(spaces); accepted: 0…\(Spaces.limit)\n")
            throw ExitCode.validationFailure
        }
        let folder = URL.temporaryDirectory.appending(path: "larder-exec-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let command = ExecutedCommand(words, spaces: spaces)
        let process = ServedProcess(
            configuration: try options.loadTemporary(standardData: folder),
            simulatesUpstreams: true,
            isHarness: true,
            announced: command.begin,
            companion: command
        )
        try await process.run()
        throw ExitCode(command.exitCode ?? EXIT_FAILURE)
    }
}
