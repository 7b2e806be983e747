import Foundation
import Subprocess

/// What every kind of work shares: the tools, the limits, the slots, the folder below which jobs have theirs.
struct ToolRunner: Sendable {
    let tools: MediaTools
    let limits: MediaLimits
    let slots: AsyncSemaphore
    /// Absolute path; made when first needed.
    let root: String

    init(tools: MediaTools, limits: MediaLimits, root: String) {
        self.tools = tools
        self.limits = limits
        self.root = root
        slots = AsyncSemaphore(children: limits.children, waiting: limits.waiting)
    }

    /// Runs a tool when it is its turn, and gives its outcome where it exited by itself.
    ///
    /// - Throws: ``MediaError``; `CancellationError`.
    func run(
        _ tool: MediaTool,
        _ arguments: [String],
        in folder: JobDirectory,
        environment: [String: String] = [:],
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
            // LibreOffice opens what documents name: it is told not to, but does so in formats that nobody thought of.
            isStrict: tool == .soffice,
            sockets: tool == .soffice ? OfficePipe.folder : nil,
            limits: limits,
            environment: environment
        )
        let outcome = try await slots.run {
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
