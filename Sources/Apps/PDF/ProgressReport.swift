import Synchronization

/// Tells every twentieth of a job once, and never less than before: listeners are to see that something happens, not to
/// be flooded.
final class ProgressReport: Sendable {
    private static let step = 5

    private let told = Mutex(-1)
    private let publish: @Sendable (_ percent: Int) -> Void

    init(publish: @escaping @Sendable (_ percent: Int) -> Void) {
        self.publish = publish
    }

    /// How far the job is, from 0 to 1. The end itself is told as such, not as 100 %.
    func tell(_ progress: Double) {
        let percent = Int(max(0, min(0.99, progress.isNaN ? 0 : progress)) * 100) / Self.step * Self.step
        told.withLock { told in
            guard percent > told else { return }
            told = percent
            publish(percent)
        }
    }

    /// What was told last, from 0 to 1.
    var reached: Double { told.withLock { Double(max(0, $0)) / 100 } }
}
