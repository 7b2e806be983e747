import Synchronization

/// Counts steps that are completed in any order, and reports each.
final class ProgressCounter: Sendable {
    private let done = Mutex(0)
    private let total: Int
    private let report: PDFTool.Progress?

    init(total: Int, report: PDFTool.Progress?) {
        self.total = total
        self.report = report
    }

    /// Counts a step, other than the last one. Reports are in order, because the lock is held meanwhile.
    func step() {
        done.withLock { done in
            guard done < total - 1 else { return }
            done += 1
            report?(JobProgress(done: done, total: total))
        }
    }

    /// Reports that all steps are completed.
    func finish() {
        done.withLock { done in
            done = total
            report?(JobProgress(done: done, total: total))
        }
    }
}
