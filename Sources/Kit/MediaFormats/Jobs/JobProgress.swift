/// How far a job is.
public struct JobProgress: Sendable, Equatable {
    /// Steps that are done.
    public var done: Int
    /// Steps there are.
    public var total: Int

    /// Creates a progress.
    public init(done: Int, total: Int) {
        self.done = done
        self.total = total
    }
}
