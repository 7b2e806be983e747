import Foundation
import Subprocess
import SystemPackage

/// A child process for untrusted input. It is started through prlimit(1) with limits on memory, processor time, file
/// size and open files, and through larder-confine, which denies it TCP and all files but those of the system, those
/// given to it and its folder; in a session of its own, with only the environment given here. Its whole process group
/// is killed in every case.
///
/// A program that leaves the group by setsid(2) escapes the kill, but neither the limits nor the confinement.
struct ConfinedProcess: Sendable {
    /// Absolute path of prlimit(1).
    var prlimit: String
    /// Absolute path of larder-confine.
    var confine: String
    /// Absolute path of the program.
    var executable: String
    var arguments: [String]
    /// Working directory, home and directory of temporary files.
    var folder: String
    /// Absolute paths of files elsewhere that it may read.
    var reads: [String] = []
    /// Whether it must not run if the kernel cannot confine it (Landlock, Linux 5.13).
    var isStrict = false
    /// Absolute path of a folder in which it may create sockets.
    var sockets: String?
    var limits: ChildLimits
    /// Variables in addition to the locale, the path and the directories.
    var environment: [String: String] = [:]
    /// For the wall time.
    var clock: any Clock<Duration> = ContinuousClock()

    /// Runs it to its end.
    ///
    /// - Parameter onLine: receives each line of its standard output at once.
    /// - Throws: `SubprocessError` if it cannot be started; `CancellationError` after it was killed.
    func run(onLine: (@Sendable (String) -> Void)? = nil) async throws -> ChildOutcome {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .milliseconds(200))
        ]
        let result = try await Subprocess.run(
            .path(FilePath(prlimit)),
            arguments: Arguments(limits.arguments + ["--", confine] + confinement + ["--", executable] + arguments),
            environment: .custom(variables),
            workingDirectory: FilePath(folder),
            platformOptions: options,
            input: .none,
            output: .sequence,
            error: .sequence
        ) { execution in
            let group = execution.processIdentifier.value
            return try await withThrowingTaskGroup(of: Event.self) { tasks in
                let limit = limits.capturedBytes
                tasks.addTask {
                    .output(try await Self.collect(execution.standardOutput, limit: limit, onLine: onLine))
                }
                tasks.addTask { .errors(try await Self.collect(execution.standardError, limit: limit, onLine: nil)) }
                let (clock, wall) = (clock, limits.wall)
                tasks.addTask {
                    try await clock.sleep(for: wall)
                    return .deadline
                }
                var collected = Collected()
                while let event = try await tasks.next() {
                    switch event {
                    case .output(let bytes): collected.output = bytes
                    case .errors(let bytes): collected.errors = bytes
                    case .deadline:
                        collected.isLate = true
                        kill(-group, SIGKILL)
                        // A process that has left the group may still have the pipes open: it is not waited for.
                        tasks.cancelAll()
                    }
                    if collected.isComplete { break }
                }
                tasks.cancelAll()
                return collected
            }
        }
        // Kills children that it has left. Its process id is not reused while a process of the group exists.
        kill(-result.processIdentifier.value, SIGKILL)
        try Task.checkCancellation()
        let collected = result.closureResult
        let ending: ChildOutcome.Ending
        switch result.terminationStatus {
        case .exited(let code): ending = .exited(code)
        case .signaled(let signal): ending = collected.isLate ? .deadline : .signaled(signal)
        }
        return ChildOutcome(
            ending: ending,
            output: collected.output ?? [],
            errors: String(decoding: collected.errors ?? [], as: UTF8.self)
        )
    }

    private var confinement: [String] {
        var options = ["--parent", "\(getpid())", "--folder", folder] + reads.flatMap { ["--read", $0] }
        if isStrict { options.append("--strict") }
        if let sockets { options += ["--sockets", sockets] }
        return options
    }

    private enum Event: Sendable {
        case output([UInt8])
        case errors([UInt8])
        case deadline
    }

    private struct Collected: Sendable {
        var output: [UInt8]?
        var errors: [UInt8]?
        var isLate = false

        var isComplete: Bool { output != nil && errors != nil }
    }

    /// Programs are started by their absolute paths; the variable PATH is for the programs that they start themselves.
    private var variables: [Subprocess.Environment.Key: String] {
        var all = ["LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "TMPDIR": folder]
        all.merge(environment) { _, new in new }
        return Dictionary(
            uniqueKeysWithValues: all.map { (Subprocess.Environment.Key(stringLiteral: $0.key), $0.value) }
        )
    }

    /// Returns the first bytes of a stream; reads it to its end, so that the program never blocks.
    private static func collect(_ stream: SubprocessOutputSequence, limit: Int, onLine: (@Sendable (String) -> Void)?)
        async throws -> [UInt8]
    {
        var kept: [UInt8] = []
        var splitter = LineSplitter()
        for try await buffer in stream {
            let bytes = buffer.withUnsafeBytes { Array($0) }
            kept += bytes.prefix(max(0, limit - kept.count))
            guard let onLine else { continue }
            for line in splitter.add(bytes) { onLine(line) }
        }
        return kept
    }
}

/// Splits pieces of text into lines; a line that is too long is discarded.
struct LineSplitter {
    private static let longest = 4096
    private var rest: [UInt8] = []

    /// Returns the lines that these bytes complete.
    mutating func add(_ bytes: [UInt8]) -> [String] {
        rest += bytes
        var lines = rest.split(separator: 0x0A, omittingEmptySubsequences: false)
        let open = lines.popLast() ?? []
        rest = open.count > Self.longest ? [] : Array(open)
        return lines.filter { $0.count <= Self.longest }.map { String(decoding: $0, as: UTF8.self) }
    }
}
