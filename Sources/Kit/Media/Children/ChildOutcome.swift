/// How a child ended and what it said.
public struct ChildOutcome: Sendable, Equatable {
    /// The way it ended.
    public enum Ending: Sendable, Equatable {
        /// By itself, with this code.
        case exited(Int32)
        /// By this signal, which Larder did not send.
        case signaled(Int32)
        /// Killed, because its wall time was over.
        case deadline
    }

    /// The way it ended.
    public let ending: Ending
    /// Beginning of its standard output.
    public let output: [UInt8]
    /// Beginning of its standard error. For the log, and to tell lack of memory; clients never see it.
    public let errors: String

    /// The error that this ending means whatever the job was; nil where it exited, for the caller to look at the code.
    func failure(of tool: MediaTool, limits: ChildLimits) -> MediaError? {
        switch ending {
        case .deadline, .signaled(Signals.processorTime): .timedOut(tool)
        case .signaled(Signals.fileSize): .tooLarge(.output(limit: limits.fileBytes))
        case .signaled(let signal):
            toldOfMemory ? .tooLarge(.memory(limit: limits.memory)) : .crashed(tool, signal: signal)
        case .exited(0): nil
        case .exited: toldOfMemory ? .tooLarge(.memory(limit: limits.memory)) : nil
        }
    }

    /// Whether it was not started, because it could not be confined.
    var isUnconfined: Bool { ending == .exited(125) && errors.hasPrefix("larder-confine: ") }

    /// Programs say in these words that they got no memory, and then abort.
    private var toldOfMemory: Bool {
        let text = errors.lowercased()
        return [
            "bad_alloc", "out of memory", "failed to allocate", "cannot allocate memory", "could not allocate",
            "memory exhausted",
        ].contains {
            text.contains($0)
        }
    }

    /// Numbers of signals on Linux that a limit sends (signal(7)).
    private enum Signals {
        static let processorTime: Int32 = 24
        static let fileSize: Int32 = 25
    }
}
