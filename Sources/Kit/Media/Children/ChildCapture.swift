import Foundation
import Subprocess

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
