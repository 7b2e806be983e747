/// The progress of a job.
public struct JobProgress: Sendable, Equatable {
    /// Completed steps.
    public var done: Int
    /// All steps.
    public var total: Int

    /// Creates a progress.
    public init(done: Int, total: Int) {
        self.done = done
        self.total = total
    }
}
