/// How a child process ended, and its output.
package struct ChildOutcome: Sendable, Equatable {
    /// The way it ended.
    package enum Ending: Sendable, Equatable {
        /// It exited with this code.
        case exited(Int32)
        /// It was ended by this signal, which Larder did not send.
        case signaled(Int32)
        /// It was killed at its deadline.
        case deadline
    }

    /// The way it ended.
    package let ending: Ending
    /// The beginning of its standard output.
    package let output: [UInt8]
    /// The beginning of its standard error, for the log, and to recognise a lack of memory; clients never see it.
    package let errors: String

    /// Returns the error that this ending means for every job; nil if it exited and the caller has to check the code.
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
