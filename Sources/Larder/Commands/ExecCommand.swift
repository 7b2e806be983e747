import ArgumentParser
import Foundation
import Sandbox
import Screens
import ServiceLifecycle
import Synchronization

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

            \(SettingsOptions.help)
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

/// A command that runs while the server does, in a process group of its own, which ends with it.
final class ExecutedCommand: Service {
    private let words: [String]
    private let spaceCount: Int
    private let status = Mutex<Int32?>(nil)
    private let (servers, announcing) = AsyncStream.makeStream(
        of: (addresses: ServerAddresses, spaces: (any HarnessedSpaces)?).self
    )

    /// - Parameters:
    ///   - words: the command and its arguments.
    ///   - spaces: how many spaces it gets.
    init(_ words: [String], spaces: Int) {
        self.words = words
        spaceCount = spaces
    }

    /// Exit code of the command as a shell tells it; nil if it was not started.
    var exitCode: Int32? { status.withLock { $0 } }

    /// Starts the command, once its spaces are made.
    @Sendable func begin(_ addresses: ServerAddresses, _ spaces: (any HarnessedSpaces)?) {
        announcing.yield((addresses, spaces))
    }

    func run() async throws {
        var iterator = servers.cancelOnGracefulShutdown().makeAsyncIterator()
        guard let server = await iterator.next() else { return }
        let spaces = try await makeSpaces(in: server.spaces)
        let process = try CommandProcess(words, environment: Self.environment(server.addresses, spaces))
        let code = await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await process.ended()
            } onGracefulShutdown: {
                process.signal(SIGTERM)
            }
        } onCancel: {
            // It has had the time to stop that requests have.
            process.signal(SIGKILL)
        }
        process.endGroup()
        status.withLock { $0 = code }
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
    private static func environment(_ addresses: ServerAddresses, _ spaces: [SpaceDescription]) -> [String: String] {
        var variables = ProcessInfo.processInfo.environment
        variables["LARDER_URL"] = addresses.server
        variables["LARDER_SANDBOX_URL"] = addresses.sandboxPort.map { "http://127.0.0.1:\($0)" }
        variables["LARDER_SPACES"] = "[\(spaces.map(\.json).joined(separator: ","))]"
        return variables
    }
}

/// A child process with a process group of its own, which has the terminal if there is one.
final class CommandProcess: Sendable {
    /// It could not be started.
    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    private let pid: pid_t

    /// Starts a command.
    ///
    /// - Parameters:
    ///   - words: Its name, which is looked for in `PATH`, and its arguments.
    ///   - environment: Its variables.
    /// - Throws: ``NotStarted``.
    init(_ words: [String], environment: [String: String]) throws {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setpgroup(&attributes, 0)
        // The command would inherit the signals that this process ignores.
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // Threads of libdispatch block all signals, and so would the command.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words.first ?? "", nil, &attributes, arguments, variables)
        guard code == 0 else {
            throw NotStarted(description: "\(words.first ?? "") cannot be started: \(String(cString: strerror(code)))")
        }
        self.pid = pid
        Self.giveTerminal(to: pid)
    }

    /// Waits for its end.
    ///
    /// - Returns: Its exit code; 128 and the number of a signal that ended it.
    func ended() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread { [pid] in
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                let signal = status & 0x7F
                continuation.resume(returning: signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
            }.start()
        }
    }

    /// Sends a signal to all processes of the group.
    func signal(_ number: Int32) { _ = kill(-pid, number) }

    /// Ends the remaining processes of the command, and takes the terminal back.
    func endGroup() {
        signal(SIGKILL)
        Self.giveTerminal(to: getpgrp())
    }

    /// Lets a process group read from the terminal and get its signals.
    private static func giveTerminal(to group: pid_t) {
        guard isatty(STDIN_FILENO) == 1 else { return }
        // The system asks a group in the background by this signal whether it may.
        let before = Foundation.signal(SIGTTOU, SIG_IGN)
        _ = tcsetpgrp(STDIN_FILENO, group)
        _ = Foundation.signal(SIGTTOU, before)
    }
}
