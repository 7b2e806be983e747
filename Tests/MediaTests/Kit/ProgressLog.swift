import Synchronization

@testable import Media

/// Keeps what a job reports.
final class ProgressLog: Sendable {
    private let reports = Mutex<[JobProgress]>([])

    var all: [JobProgress] { reports.withLock { $0 } }

    func add(_ progress: JobProgress) { reports.withLock { $0.append(progress) } }
}
