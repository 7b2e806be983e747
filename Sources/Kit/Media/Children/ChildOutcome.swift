/// How a child process ended, and its output.
public struct ChildOutcome: Sendable, Equatable {
    /// The way it ended.
    public enum Ending: Sendable, Equatable {
        /// It exited with this code.
        case exited(Int32)
        /// It was ended by this signal, which Larder did not send.
        case signaled(Int32)
        /// It was killed at its deadline.
        case deadline
    }

    /// The way it ended.
    public let ending: Ending
    /// The beginning of its standard output.
    public let output: [UInt8]
    /// The beginning of its standard error, for the log, and to recognise a lack of memory; clients never see it.
    public let errors: String

    /// Returns the error that this ending means for every job; nil if it exited and the caller has to check the code.
    func failure(of tool: MediaTool, limits: ChildLimits) -> MediaError? {
        switch ending {
        case .deadline, .signaled(Signals.processorTime): .timedOut(tool)
        case .signaled(Signals.fileSize): .tooLarge(.output(limit: limits.fileBytes))
        case .signaled(let signal):
            lacksMemory ? .tooLarge(.memory(limit: limits.memory)) : .crashed(tool, signal: signal)
        case .exited(0): nil
        case .exited: lacksMemory ? .tooLarge(.memory(limit: limits.memory)) : nil
        }
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
    }
}
