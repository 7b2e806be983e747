import Foundation
import NIOConcurrencyHelpers

/// A process of the real executable: its output line by line, its signals, its end. Killed when it is let go.
final class RunningProcess: Sendable {
    /// It ended before the line that was waited for.
    struct EndedEarly: Error, CustomStringConvertible {
        let status: Int32
        let output: String
        let errors: String
        var description: String { "the process ended with \(status) before the expected line\n\(output)\n\(errors)" }
    }

    private struct State {
        var lines: [String] = []
        var errors = ""
        var status: Int32?
        var openPipes = 2
        var waiters: [@Sendable (State) -> Bool] = []
    }

    private static let starting = NIOLock()
    private let process = Process()
    private let state = NIOLockedValueBox(State())

    /// Where the build put `larder`: beside the test bundle.
    static let executable = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "larder")

    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        process.executableURL = Self.executable
        process.arguments = arguments
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("LARDER_") }
        variables.merge(environment) { _, new in new }
        process.environment = variables
        // Processes started side by side must not inherit each other's pipes: the end of the output would wait for all of them.
        Self.starting.lock()
        defer { Self.starting.unlock() }
        let output = Pipe()
        let errors = Pipe()
        for handle in [output.fileHandleForReading, output.fileHandleForWriting, errors.fileHandleForReading, errors.fileHandleForWriting] {
            _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        process.standardOutput = output
        process.standardError = errors
        let state = self.state
        let rest = NIOLockedValueBox("")
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            guard !data.isEmpty else {
                handle.readabilityHandler = nil
                Self.change(state) { $0.openPipes -= 1 }
                return
            }
            let lines = rest.withLockedValue { rest -> [String] in
                rest += String(decoding: data, as: UTF8.self)
                var parts = rest.components(separatedBy: "\n")
                rest = parts.removeLast()
                return parts
            }
            Self.change(state) { $0.lines += lines }
        }
        errors.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            guard !data.isEmpty else {
                handle.readabilityHandler = nil
                Self.change(state) { $0.openPipes -= 1 }
                return
            }
            Self.change(state) { $0.errors += String(decoding: data, as: UTF8.self) }
        }
        process.terminationHandler = { process in
            Self.change(state) { $0.status = process.terminationStatus }
        }
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var pid: Int32 { process.processIdentifier }

    /// Everything written to standard error so far.
    var log: String { state.withLockedValue { $0.errors } }

    /// The first line of standard output that begins with a text, without that text; waits for it.
    func line(after prefix: String) async throws -> String {
        let found: Result<String, EndedEarly> = await wait { state in
            if let line = state.lines.first(where: { $0.hasPrefix(prefix) }) { return .success(String(line.dropFirst(prefix.count))) }
            return state.status.map { .failure(EndedEarly(status: $0, output: state.lines.joined(separator: "\n"), errors: state.errors)) }
        }
        return try found.get()
    }

    /// Waits until standard error holds a text.
    func logged(_ text: String) async throws {
        let found: Result<Void, EndedEarly> = await wait { state in
            if state.errors.contains(text) { return .success(()) }
            return state.status.map { .failure(EndedEarly(status: $0, output: "", errors: state.errors)) }
        }
        try found.get()
    }

    /// Sends a signal.
    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Waits for the end of the process and of its output, and gives the exit code, or the number of the signal that ended it.
    @discardableResult
    func ended() async -> Int32 {
        await wait { $0.openPipes == 0 ? $0.status : nil }
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

    private static func change(_ box: NIOLockedValueBox<State>, _ body: (inout State) -> Void) {
        box.withLockedValue { state in
            body(&state)
            let now = state
            state.waiters.removeAll { $0(now) }
        }
    }
}
