import Foundation
import NIOConcurrencyHelpers
import Subprocess
package import SystemPackage

/// A process of the real executable: its output line by line, its signals, its end. Killed when it is let go.
package final class RunningProcess: Sendable {
    /// It ended before the line that was waited for.
    package struct EndedEarly: Error, CustomStringConvertible {
        package let status: Int32
        package let output: String
        package let errors: String
        package var description: String {
            "the process ended with \(status) before the expected line\n\(output)\n\(errors)"
        }
    }

    /// A stream whose pipe has no reader any more.
    package enum Unread: Sendable {
        case output
        case errors
    }

    private struct State {
        var pid: Int32?
        var output = ""
        var errors = ""
        /// Set when the process has ended and all its output was read.
        var status: Int32?
        var waiters: [@Sendable (State) -> Bool] = []
    }

    private let state = NIOLockedValueBox(State())

    /// The name of the program that is started.
    @TaskLocal package static var program = "larder"

    /// For `larder` `LARDER_EXECUTABLE`, such as an optimized one, with the programs that belong beside it; else where
    /// the build put the program: beside the test bundle.
    package static var executable: String {
        let given = program == "larder" ? ProcessInfo.processInfo.environment["LARDER_EXECUTABLE"] : nil
        let bundle = URL(filePath: CommandLine.arguments[0])
        return given.map { URL(filePath: $0).path } ?? bundle.deletingLastPathComponent().appending(path: program).path
    }

    /// Variables that say where things are. No other one is inherited: a test means the same wherever it runs, such as
    /// with `CI`, which refuses likely secrets in recordings.
    private static let inherited: Set = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"]

    /// Starts the executable.
    ///
    /// - Parameters:
    ///   - input: the text of its standard input.
    ///   - terminal: the terminal of its standard error; nil for a pipe.
    ///   - unread: which pipe has no reader; nil if both are read.
    package init(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String = "",
        terminal: PseudoTerminal? = nil,
        unread: Unread? = nil
    ) {
        var variables = ProcessInfo.processInfo.environment.filter { Self.inherited.contains($0.key) }
        variables.merge(environment) { _, new in new }
        let custom = Dictionary(
            uniqueKeysWithValues: variables.map { (Environment.Key(stringLiteral: $0.key), $0.value) }
        )
        let state = self.state
        Task {
            let status: Int32
            do {
                let errors = try unread == .errors ? FileDescriptor.unreadPipe() : terminal?.device
                let output = try unread == .output ? FileDescriptor.unreadPipe() : nil
                let environment = Environment.custom(custom)
                let ended =
                    if let output {
                        try await Self.run(arguments, environment, input, output: output, state)
                    } else if let errors {
                        try await Self.run(arguments, environment, input, errors: errors, terminal, state)
                    } else {
                        try await Self.run(arguments, environment, input, state)
                    }
                switch ended {
                case .exited(let code), .signaled(let code): status = code
                }
            } catch {
                Self.change(state) { $0.errors += "\(error)" }
                status = -1
            }
            Self.change(state) { $0.status = status }
        }
    }

    /// Runs the executable to its end, and collects its output.
    private static func run(
        _ arguments: [String],
        _ environment: Environment,
        _ input: String,
        _ state: NIOLockedValueBox<State>
    ) async throws -> TerminationStatus {
        try await Subprocess.run(
            .path(.init(executable)),
            arguments: Arguments(arguments),
            environment: environment,
            input: .string(input),
            output: .sequence,
            error: .sequence
        ) { execution in
            Self.change(state) { $0.pid = execution.processIdentifier.value }
            async let output: Void = Self.collect(execution.standardOutput) { text in
                Self.change(state) { $0.output += text }
            }
            try await Self.collect(execution.standardError) { text in Self.change(state) { $0.errors += text } }
            try await output
        }.terminationStatus
    }

    /// The same with another standard error, which is read if it is a terminal's.
    private static func run(
        _ arguments: [String],
        _ environment: Environment,
        _ input: String,
        errors: FileDescriptor,
        _ terminal: PseudoTerminal?,
        _ state: NIOLockedValueBox<State>
    ) async throws -> TerminationStatus {
        try await Subprocess.run(
            .path(.init(executable)),
            arguments: Arguments(arguments),
            environment: environment,
            input: .string(input),
            output: .sequence,
            error: .fileDescriptor(errors, closeAfterSpawningProcess: true)
        ) { execution in
            Self.change(state) { $0.pid = execution.processIdentifier.value }
            async let errors: Void? = terminal?.collect { text in Self.change(state) { $0.errors += text } }
            try await Self.collect(execution.standardOutput) { text in Self.change(state) { $0.output += text } }
            _ = await errors
        }.terminationStatus
    }

    /// The same with another standard output.
    private static func run(
        _ arguments: [String],
        _ environment: Environment,
        _ input: String,
        output: FileDescriptor,
        _ state: NIOLockedValueBox<State>
    ) async throws -> TerminationStatus {
        try await Subprocess.run(
            .path(.init(executable)),
            arguments: Arguments(arguments),
            environment: environment,
            input: .string(input),
            output: .fileDescriptor(output, closeAfterSpawningProcess: true),
            error: .sequence
        ) { execution in
            Self.change(state) { $0.pid = execution.processIdentifier.value }
            try await Self.collect(execution.standardError) { text in Self.change(state) { $0.errors += text } }
        }.terminationStatus
    }

    /// Another program has failed.
    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs another program, and returns its output.
    ///
    /// - Throws: ``Failed``. A test that ends the program itself may ignore it: nothing is recorded.
    @discardableResult
    package static func output(of program: String, _ arguments: [String]) async throws -> String {
        let result = try await Subprocess.run(
            .name(program),
            arguments: Arguments(arguments),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        guard result.terminationStatus.isSuccess else {
            throw Failed(description: "\(program): \(result.standardError)")
        }
        return result.standardOutput
    }

    deinit {
        let running = state.withLockedValue { $0.status == nil ? $0.pid : nil }
        if let running { kill(running, SIGKILL) }
    }

    /// Everything written to standard error so far.
    package var log: String { state.withLockedValue { $0.errors } }

    /// Everything written to standard output so far.
    package var output: String { state.withLockedValue { $0.output } }

    /// Process identifier, once it has started.
    package var pid: Int32? { state.withLockedValue { $0.pid } }

    /// The first line of standard output that begins with a text, without that text; waits for it.
    package func line(after prefix: String) async throws -> String {
        try await find { state in
            state.output.split(separator: "\n").first { $0.hasPrefix(prefix) }.map {
                String($0.dropFirst(prefix.count))
            }
        }
    }

    /// Waits until standard error holds a text.
    package func logged(_ text: String) async throws {
        try await find { state in state.errors.contains(text) ? () : nil }
    }

    package func signal(_ number: Int32) {
        if let pid { kill(pid, number) }
    }

    /// Waits for the end of the process and of its output, and gives the exit code, or the number of the signal that
    /// ended it.
    @discardableResult
    package func ended() async -> Int32 {
        await wait { $0.status }
    }

    private func find<Value: Sendable>(_ look: @escaping @Sendable (State) -> Value?) async throws -> Value {
        let found: Result<Value, EndedEarly> = await wait { state in
            if let value = look(state) { return .success(value) }
            return state.status.map { .failure(EndedEarly(status: $0, output: state.output, errors: state.errors)) }
        }
        return try found.get()
    }

    private func wait<Value: Sendable>(for look: @escaping @Sendable (State) -> Value?) async -> Value {
        await withCheckedContinuation { (continuation: CheckedContinuation<Value, Never>) in
            let found = state.withLockedValue { state -> Value? in
                if let value = look(state) { return value }
                state.waiters.append { state in
                    guard let value = look(state) else { return false }
                    continuation.resume(returning: value)
                    return true
                }
                return nil
            }
            if let found { continuation.resume(returning: found) }
        }
    }

    private static func collect(_ sequence: SubprocessOutputSequence, _ take: @Sendable (String) -> Void) async throws {
        for try await buffer in sequence {
            take(buffer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        }
    }

    private static func change(_ box: NIOLockedValueBox<State>, _ body: (inout State) -> Void) {
        box.withLockedValue { state in
            body(&state)
            let now = state
            state.waiters.removeAll { $0(now) }
        }
    }
}

extension FileDescriptor {
    /// Returns the end for writing of a pipe whose other end is closed.
    fileprivate static func unreadPipe() throws -> FileDescriptor {
        let pipe = try FileDescriptor.pipe()
        try pipe.readEnd.close()
        return pipe.writeEnd
    }
}

/// A terminal that a test gives to a program, to read its output there.
package final class PseudoTerminal: Sendable {
    /// The system has none left.
    package struct Unavailable: Error {
        let code: Int32
    }

    /// The side of the terminal that the program writes to.
    package let device: FileDescriptor
    private let master: Int32

    // asm-generic/ioctls.h: TIOCSPTLCK, TIOCGPTN.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// Opens a terminal.
    package init() throws {
        // The functions of stdlib.h are not in Swift's module of glibc.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (lock, number): (Int32, Int32) = (0, 0)
        guard master >= 0, ioctl(master, Self.setLock, &lock) == 0, ioctl(master, Self.getNumber, &number) == 0 else {
            throw Unavailable(code: errno)
        }
        let device = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard device >= 0 else { throw Unavailable(code: errno) }
        self.device = FileDescriptor(rawValue: device)
    }

    deinit { close(master) }

    /// Reads the program's output until it has closed the terminal.
    package func collect(_ take: @escaping @Sendable (String) -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                var buffer = [UInt8](repeating: 0, count: 4096)
                while case let count = read(master, &buffer, buffer.count), count > 0 {
                    take(String(decoding: buffer[..<count], as: UTF8.self))
                }
                continuation.resume()
            }
        }
    }
}
