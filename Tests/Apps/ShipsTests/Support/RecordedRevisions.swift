import Synchronization

/// Revisions that were announced.
final class RecordedRevisions: Sendable {
    private let state = Mutex<[Int]>([])

    var revisions: [Int] { state.withLock { $0 } }

    func add(_ revision: Int) { state.withLock { $0.append(revision) } }
}
