import Concurrency
import Foundation
import Logging
import Subprocess

/// Runs tools for all kinds of work: within the limits, at most a number of children at a time, each job in a directory
/// of its own.
struct ToolRunner: Sendable {
    let tools: MediaTools
    let limits: MediaLimits
    private let children: AsyncSemaphore
    /// Absolute path of the parent of the jobs' directories; created when it is first needed.
    let root: String
    private let logger: Logger

    init(tools: MediaTools, limits: MediaLimits, root: String, logger: Logger) {
        self.tools = tools
        self.limits = limits
        self.root = root
        self.logger = logger
        children = AsyncSemaphore(permits: limits.children, reserved: 1, maximumWaiting: limits.waiting)
    }

    /// Number of jobs that run, and that wait for another to end.
    var load: (running: Int, waiting: Int) {
        get async { (await children.running, await children.waiting) }
    }

    /// Runs a tool as soon as fewer children run than the limit.
    ///
    /// - Parameters:
    ///   - limits: its limits; nil for those of the tool.
    ///   - isShort: whether the input is so small that the tool ends soon: then it does not wait for long ones.
    ///   - onLine: receives each line of the tool's standard output at once.
    /// - Returns: the outcome of a tool that exited by itself, whatever its exit code.
    func run(
        _ tool: MediaTool,
        _ arguments: [String],
        in folder: JobDirectory,
        _ limits: ChildLimits? = nil,
        environment: [String: String] = [:],
        isShort: Bool = false,
        onLine: (@Sendable (String) -> Void)? = nil
    ) async throws -> ChildOutcome {
        let limits = limits ?? self.limits(of: tool)
        let process = ConfinedProcess(
            prlimit: try tools.path(of: .prlimit),
            confine: try tools.path(of: .confine),
            executable: try tools.path(of: tool),
            arguments: arguments,
            folder: folder.path,
            reads: folder.linked + (tool == .soffice ? OfficeFiles.read : []),
            // LibreOffice opens files that documents name. Its settings forbid that, but not for every format.
            isStrict: tool == .soffice,
            sockets: tool == .soffice ? OfficePipe.folder : nil,
            limits: limits,
            environment: environment
        )
        let outcome = try await children.withJobPermit(isShort: isShort) {
            do {
                return try await process.run(onLine: onLine)
            } catch let error as SubprocessError {
                throw MediaError.unavailable("\(tool.executable) could not be started: \(error)")
            }
        }
        if outcome.isUnconfined, tool == .soffice { throw MediaError.unconfined(tool) }
        if folder.isFull { throw MediaError.storageFull("no space left in \(root)") }
        if let error = outcome.failure(of: tool, limits: limits) { throw error }
        return outcome
    }

    /// Runs a job in a directory of its own. The log has the cause of every failure that is not in the input.
    ///
    /// - Throws: ``MediaError``, `unavailable` or `storageFull` also if the directory or a file in it cannot
    ///   be created; errors of `job`.
    func withFolder<Value>(_ job: (JobDirectory) async throws -> Value) async throws -> Value {
        do {
            return try await JobDirectory.lend(below: root, job)
        } catch let error as CocoaError where ![.fileNoSuchFile, .fileReadNoSuchFile].contains(error.code) {
            throw logged(error.code == .fileWriteOutOfSpace ? .storageFull("\(error)") : .unavailable("\(error)"))
        } catch let error as MediaError {
            throw logged(error)
        }
    }

    private func logged(_ error: MediaError) -> MediaError {
        switch error {
        case .failed, .unavailable, .storageFull:
            logger.error("work on a picture or document failed", metadata: ["error": "\(error)"])
        default: break
        }
        return error
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
    /// - Throws: ``MediaError/overloaded`` at once if too many jobs wait; `CancellationError`; errors of the job.
    nonisolated func withJobPermit<Value: Sendable>(
        isShort: Bool = false,
        _ job: @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await withPermit(isShort: isShort, job)
        } catch is QueueFull {
            throw MediaError.overloaded
        }
    }
}
