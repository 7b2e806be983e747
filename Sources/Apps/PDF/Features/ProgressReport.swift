import Synchronization

/// Publishes the progress of a job in steps of 5 %, each once and never backwards, so that clients see that something
/// happens and are not flooded.
final class ProgressReport: Sendable {
    private static let step = 5

    private let published = Mutex(-1)
    private let publish: @Sendable (_ percent: Int) -> Void

    init(publish: @escaping @Sendable (_ percent: Int) -> Void) {
        self.publish = publish
    }

    /// Takes how far the job is, from 0 to 1. 100 % is not published: the end of the job has an event of its own.
    func update(_ progress: Double) {
        let percent = Int(max(0, min(0.99, progress.isNaN ? 0 : progress)) * 100) / Self.step * Self.step
        published.withLock { published in
            guard percent > published else { return }
            published = percent
            publish(percent)
        }
    }

    /// What was published last, from 0 to 1.
    var reached: Double { published.withLock { Double(max(0, $0)) / 100 } }
}
