import Foundation
import Subprocess
import SystemPackage

/// A child process for untrusted input. It is started through prlimit(1) with limits on memory, processor time, file
/// size and open files, and through larder-confine, which denies it the network, other processes, and all files but
/// those of the system, those given to it and its folder; in a session of its own, with only the environment given
/// here. Its whole process group is killed in every case.
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
    /// Whether it must not run if the kernel cannot confine it (Landlock and seccomp, Linux 5.13).
    var isStrict = false
    /// Absolute path of a folder in which it may listen at Unix sockets.
    var sockets: String?
    var limits: ChildLimits
    /// Variables in addition to the locale, the path and the directories.
    var environment: [String: String] = [:]
    /// For the wall time.
    var clock: any Clock<Duration> = ContinuousClock()

    /// Runs it to its end.
    ///
    /// - Parameter onLine: receives each line of its standard output at once.
    /// - Throws: `SubprocessError` or ``MediaError/unavailable(_:)`` if it cannot be started; `CancellationError` after
    ///   it was killed.
    func run(onLine: (@Sendable (String) -> Void)? = nil) async throws -> ChildOutcome {
        guard FreeDescriptors.include(FreeDescriptors.forChild) else {
            throw MediaError.unavailable("too few descriptors are left to start \(executable)")
        }
        let result = try await Subprocess.run(
            .path(FilePath(prlimit)),
            arguments: Arguments(limits.arguments + ["--", confine] + confinement + ["--", executable] + arguments),
            environment: .custom(variables),
            workingDirectory: FilePath(folder),
            platformOptions: Self.options,
            input: .none,
            output: .sequence,
            error: .sequence
        ) { execution in
            try await ChildCapture.read(
                execution.standardOutput,
                execution.standardError,
                group: execution.processIdentifier.value,
                limits: limits,
                clock: clock,
                onLine: onLine
            )
        }
        // Kills children that it has left. Its process id is not reused while a process of the group exists.
        kill(-result.processIdentifier.value, SIGKILL)
        try Task.checkCancellation()
        return ChildOutcome(result.terminationStatus, result.closureResult)
    }

    private static var options: PlatformOptions {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .milliseconds(200))
        ]
        return options
    }

    private var confinement: [String] {
        var options = ["--parent", "\(getpid())", "--folder", folder] + reads.flatMap { ["--read", $0] }
        if isStrict { options.append("--strict") }
        if let sockets { options += ["--sockets", sockets] }
        return options
    }

    /// Programs are started by their absolute paths; the variable PATH is for the programs that they start themselves.
    private var variables: [Subprocess.Environment.Key: String] {
        var all = ["LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "TMPDIR": folder]
        all.merge(environment) { _, new in new }
        return Dictionary(
            uniqueKeysWithValues: all.map { (Subprocess.Environment.Key(stringLiteral: $0.key), $0.value) }
        )
    }
}

extension ChildOutcome {
    init(_ status: TerminationStatus, _ capture: ChildCapture) {
        let ending: Ending =
            switch status {
            case .exited(let code): .exited(code)
            case .signaled(let signal): capture.isLate ? .deadline : .signaled(signal)
            }
        self.init(
            ending: ending,
            output: capture.output ?? [],
            errors: String(decoding: capture.errors ?? [], as: UTF8.self)
        )
    }
}
