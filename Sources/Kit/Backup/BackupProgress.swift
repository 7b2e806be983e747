/// What a backup or a restore is doing, for a display.
public struct BackupProgress: Sendable, Equatable {
    /// The steps, in their order.
    public enum Step: String, Sendable, CaseIterable {
        /// Files of bodies and documents are linked or copied.
        case files
        /// The pages of the database are copied.
        case database
        /// The copies are read, and their digests computed.
        case digests
        /// The pages of the copied database are checked, and its rows compared with the files.
        case check
    }

    /// The step.
    public var step: Step
    /// Bytes that are done.
    public var completed: Int
    /// Bytes of the whole step; 0 if that is not known.
    public var total: Int

    /// Creates a value.
    public init(_ step: Step, completed: Int = 0, total: Int = 0) {
        self.step = step
        self.completed = completed
        self.total = total
    }
}

/// Receives the progress of a backup or a restore, several times a second.
public typealias ProgressReceiver = (BackupProgress) -> Void

/// Counts the bytes of a step.
struct ProgressCounter {
    private let receive: ProgressReceiver
    private var progress: BackupProgress

    init(_ step: BackupProgress.Step, total: Int, _ receive: @escaping ProgressReceiver) {
        self.receive = receive
        progress = BackupProgress(step, total: total)
        receive(progress)
    }

    /// Adds bytes; what was announced as a total is never exceeded.
    mutating func add(_ bytes: Int) {
        progress.completed = min(progress.completed + bytes, progress.total)
        receive(progress)
    }
}
