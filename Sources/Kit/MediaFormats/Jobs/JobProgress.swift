/// The progress of a job.
package struct JobProgress: Sendable, Equatable {
    /// Completed steps.
    package var done: Int
    /// All steps.
    package var total: Int

    /// Creates a progress.
    package init(done: Int, total: Int) {
        self.done = done
        self.total = total
    }
}
