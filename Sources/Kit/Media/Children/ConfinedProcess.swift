import Foundation
import Subprocess
import SystemPackage

/// A child process for untrusted input. It is started through prlimit(1) with limits on memory, processor time, file
/// size and open files. larder-confine denies it the network, other processes, and all files but those of the system,
/// those given to it and its folder. It has a session of its own, and only the environment given here. Its whole
/// process group is killed in every case.
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

/// The output of a child process, and whether it was killed at its deadline.
struct ChildCapture: Sendable {
    var output: [UInt8]?
    var errors: [UInt8]?
    var isLate = false

    private enum Event: Sendable {
        case output([UInt8])
        case errors([UInt8])
        case deadline
    }

    private var isComplete: Bool { output != nil && errors != nil }

    /// Reads both streams to their ends, and kills the process group at its deadline.
    ///
    /// - Parameters:
    ///   - group: the process group of the child.
    ///   - limits: the wall time, and the bytes of each stream that are kept.
    ///   - clock: for the wall time.
    ///   - onLine: receives each line of the standard output at once.
    /// - Throws: the error of a stream; `CancellationError`.
    static func read(
        _ output: SubprocessOutputSequence,
        _ errors: SubprocessOutputSequence,
        group: pid_t,
        limits: ChildLimits,
        clock: any Clock<Duration>,
        onLine: (@Sendable (String) -> Void)?
    ) async throws -> ChildCapture {
        let (limit, wall) = (limits.capturedBytes, limits.wall)
        return try await withThrowingTaskGroup(of: Event.self) { tasks in
            tasks.addTask { .output(try await collect(output, limit: limit, onLine: onLine)) }
            tasks.addTask { .errors(try await collect(errors, limit: limit, onLine: nil)) }
            tasks.addTask {
                try await clock.sleep(for: wall)
                return .deadline
            }
            var capture = ChildCapture()
            while !capture.isComplete, let event = try await tasks.next() {
                capture.take(event)
                guard case .deadline = event else { continue }
                kill(-group, SIGKILL)
                // A process that has left the group may still have the pipes open: it is not waited for.
                tasks.cancelAll()
            }
            tasks.cancelAll()
            return capture
        }
    }

    private mutating func take(_ event: Event) {
        switch event {
        case .output(let bytes): output = bytes
        case .errors(let bytes): errors = bytes
        case .deadline: isLate = true
        }
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

/// The descriptors that this process can still open.
///
/// swift-subprocess ends the process if it can open one pipe of a child and not the next. So a child is only started if
/// there are descriptors for all of its pipes.
enum FreeDescriptors {
    /// Twice the descriptors that the start of a child takes for a moment: two pipes, the null device, a pipe for a
    /// failed start, one for the process itself. Meanwhile, another child may start, or a connection be accepted.
    static let forChild = 16

    /// Whether this number of descriptors can be opened now.
    static func include(_ count: Int) -> Bool {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < count {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            opened.append(descriptor)
        }
        return true
    }
}

/// How a child process ended, and its output.
package struct ChildOutcome: Sendable, Equatable {
    package enum Ending: Sendable, Equatable {
        /// It exited with this code.
        case exited(Int32)
        /// It was ended by this signal, which Larder did not send.
        case signaled(Int32)
        /// It was killed at its deadline.
        case deadline
    }

    package let ending: Ending
    /// The beginning of its standard output.
    package let output: [UInt8]
    /// The beginning of its standard error, for the log, and to recognise a lack of memory; clients never see it.
    package let errors: String

    /// Returns the error that the ending is for every job; nil if the caller has to check the exit code.
    ///
    /// A failure of the machine is never reported as damage of the file.
    func failure(of tool: MediaTool, limits: ChildLimits) -> MediaError? {
        switch ending {
        case .deadline, .signaled(Signals.processorTime): .timedOut(tool)
        case .signaled(Signals.fileSize): .tooLarge(.output(limit: limits.fileBytes))
        case .signaled(let signal) where Signals.ofOthers.contains(signal):
            .unavailable("\(tool.executable) was ended by signal \(signal)")
        case .exited(0): nil
        case .exited where lacksSpace: .storageFull("\(tool.executable): \(errors.prefix(500))")
        case .exited where isMachineAtFault: .unavailable("\(tool.executable): \(errors.prefix(500))")
        case .signaled where lacksMemory, .exited where lacksMemory: memoryFailure(of: tool, limits)
        case .signaled(let signal): .crashed(tool, signal: signal)
        case .exited: nil
        }
    }

    private func memoryFailure(of tool: MediaTool, _ limits: ChildLimits) -> MediaError {
        limits.isMemoryReduced
            ? .unavailable("\(tool.executable) may not have the memory of its setting: \(errors.prefix(500))")
            : .tooLarge(.memory(limit: limits.memory))
    }

    /// Whether its standard error says that the disk was full.
    private var lacksSpace: Bool {
        ["No space left on device", "out of disk space", "Disk quota exceeded"].contains { errors.contains($0) }
    }

    /// Whether its standard error says that it could not be started, or that the machine had no descriptors or
    /// processes for it.
    private var isMachineAtFault: Bool {
        errors.hasPrefix("prlimit: ") || errors.hasPrefix("larder-confine: ")
            || [
                "error while loading shared libraries", "Too many open files", "Read-only file system",
                "Resource temporarily unavailable",
            ].contains { errors.contains($0) }
    }

    /// Whether it was not started because it could not be confined.
    var isUnconfined: Bool { ending == .exited(125) && errors.hasPrefix("larder-confine: ") }

    /// Whether its standard error has the words of a program that got no memory.
    private var lacksMemory: Bool {
        let text = errors.lowercased()
        return [
            "bad_alloc", "out of memory", "failed to allocate", "cannot allocate memory", "could not allocate",
            "memory exhausted",
        ].contains {
            text.contains($0)
        }
    }

    /// Numbers of the signals on Linux that limits send (signal(7)).
    private enum Signals {
        static let processorTime: Int32 = 24
        static let fileSize: Int32 = 25
        /// Those that other processes and the kernel send, and a decoder does not cause: hang-up, interrupt, quit,
        /// kill (as the kernel does if there is no memory), terminate.
        static let ofOthers: Set<Int32> = [1, 2, 3, 9, 15]
    }
}
