import Concurrency
import Foundation
import Subprocess

/// Runs tools for all kinds of work: within the limits, at most a number of children at a time, each job in a directory
/// of its own.
struct ToolRunner: Sendable {
    let tools: MediaTools
    let limits: MediaLimits
    private let children: AsyncSemaphore
    /// Absolute path of the directory for those of jobs; made when first needed.
    let root: String

    init(tools: MediaTools, limits: MediaLimits, root: String) {
        self.tools = tools
        self.limits = limits
        self.root = root
        children = AsyncSemaphore(permits: limits.children, maximumWaiting: limits.waiting)
    }

    /// Runs a tool as soon as fewer children run than the limit.
    ///
    /// - Parameters:
    ///   - sockets: absolute path of a folder in which it may create sockets.
    ///   - onLine: receives each line of the tool's standard output at once.
    /// - Returns: the outcome of a tool that exited by itself, whatever its exit code.
    /// - Throws: ``MediaError``; `CancellationError`.
    func run(
        _ tool: MediaTool,
        _ arguments: [String],
        in folder: JobDirectory,
        environment: [String: String] = [:],
        sockets: String? = nil,
        onLine: (@Sendable (String) -> Void)? = nil
    ) async throws -> ChildOutcome {
        let limits = limits(of: tool)
        let process = ConfinedProcess(
            prlimit: try tools.path(of: .prlimit),
            confine: try tools.path(of: .confine),
            executable: try tools.path(of: tool),
            arguments: arguments,
            folder: folder.path,
            reads: folder.linked,
            // LibreOffice opens files that documents name. Its settings forbid that, but not for every format.
            isStrict: tool == .soffice,
            sockets: sockets,
            limits: limits,
            environment: environment
        )
        let outcome = try await children.withJobPermit {
            do {
                return try await process.run(onLine: onLine)
            } catch let error as SubprocessError {
                throw MediaError.failed(tool, "\(error)")
            }
        }
        if outcome.isUnconfined { throw tool == .soffice ? MediaError.unconfined(tool) : .failed(tool, outcome.errors) }
        if let error = outcome.failure(of: tool, limits: limits) { throw error }
        return outcome
    }

    func withFolder<Value>(_ job: (JobDirectory) async throws -> Value) async throws -> Value {
        try await JobDirectory.lend(below: root, job)
    }

    private func limits(of tool: MediaTool) -> ChildLimits {
        switch tool {
        case .vips, .prlimit, .confine: limits.vips
        case .pdftoppm: limits.pdftoppm
        case .soffice: limits.soffice
        case .pdfWorker: limits.pdfWorker
        }
    }
}

extension AsyncSemaphore {
    /// Runs a job while it holds a permit.
    ///
    /// - Throws: ``MediaError/overloaded`` at once if too many jobs wait; `CancellationError`; what the job throws.
    nonisolated func withJobPermit<Value: Sendable>(_ job: @Sendable () async throws -> Value) async throws -> Value {
        do {
            return try await withPermit(job)
        } catch is QueueFull {
            throw MediaError.overloaded
        }
    }
}
