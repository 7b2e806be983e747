/// The progress of a command that works long on stored data, for a display.
package struct StorageProgress: Sendable, Equatable {
    package enum Step: String, Sendable, CaseIterable {
        /// Files of bodies and documents are linked or copied.
        case files
        /// The pages of the database are copied.
        case database
        /// The copies are read, and their digests computed.
        case digests
        /// The pages of the database are checked, and its rows compared with the files.
        case check
        /// Files are read to their end.
        case contents
        /// Stored responses are removed.
        case removal
        /// Free pages are returned to the file system.
        case shrinking
    }

    package var step: Step
    /// Bytes that are done.
    package var completed: Int
    /// Bytes of the whole step; 0 if that is not known.
    package var total: Int

    package init(_ step: Step, completed: Int = 0, total: Int = 0) {
        self.step = step
        self.completed = completed
        self.total = total
    }
}

/// Receives the progress of a command, several times a second.
package typealias ProgressReceiver = (StorageProgress) -> Void

/// Counts the bytes of a step.
package struct ProgressCounter {
    private let receive: ProgressReceiver
    private var progress: StorageProgress

    package init(_ step: StorageProgress.Step, total: Int, _ receive: @escaping ProgressReceiver) {
        self.receive = receive
        progress = StorageProgress(step, total: total)
        receive(progress)
    }

    /// Adds bytes, but never exceeds the announced total.
    package mutating func add(_ bytes: Int) {
        progress.completed = min(progress.completed + bytes, progress.total)
        receive(progress)
    }
}
