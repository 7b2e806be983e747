import Foundation
import ServiceLifecycle

/// A child process in its own process group, which gets the terminal if there is one.
final class CommandProcess: Sendable {
    /// It could not be started.
    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    private let pid: pid_t
    private let hasTerminal: Bool

    /// Starts a command.
    ///
    /// - Parameters:
    ///   - words: Its name, which is searched for in `PATH`, and its arguments.
    ///   - environment: Its variables.
    ///   - output: A new file for its output, in which case its input is empty; nil for the streams of this process.
    /// - Throws: ``NotStarted``.
    init(_ words: [String], environment: [String: String], output: URL? = nil) throws {
        hasTerminal = output == nil
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let output {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setpgroup(&attributes, 0)
        // The command would inherit the signals that this process ignores.
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // Threads of libdispatch block all signals, and the command would inherit that.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words.first ?? "", &actions, &attributes, arguments, variables)
        guard code == 0 else {
            throw NotStarted(description: "\(words.first ?? "") cannot be started: \(String(cString: strerror(code)))")
        }
        self.pid = pid
        if hasTerminal { Self.giveTerminal(to: pid) }
    }

    /// Waits for the end of the process.
    ///
    /// - Returns: Its exit code; 128 plus the number of the signal that ended it.
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

    /// Waits for the end of the process, and ends it when the server stops.
    ///
    /// - Returns: As ``ended()``.
    func endedWithServer() async -> Int32 {
        defer { endGroup() }
        return await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await ended()
            } onGracefulShutdown: {
                self.signal(SIGTERM)
            }
        } onCancel: {
            // The command had as much time to stop as requests have.
            signal(SIGKILL)
        }
    }

    /// Sends a signal to all processes of the group.
    func signal(_ number: Int32) { _ = kill(-pid, number) }

    /// Ends the remaining processes of the command, and takes the terminal back.
    func endGroup() {
        signal(SIGKILL)
        if hasTerminal { Self.giveTerminal(to: getpgrp()) }
    }

    /// Makes a process group the foreground group of the terminal.
    private static func giveTerminal(to group: pid_t) {
        guard isatty(STDIN_FILENO) == 1 else { return }
        // The system sends this signal to a group in the background that calls tcsetpgrp(3).
        let before = Foundation.signal(SIGTTOU, SIG_IGN)
        _ = tcsetpgrp(STDIN_FILENO, group)
        _ = Foundation.signal(SIGTTOU, before)
    }
}
