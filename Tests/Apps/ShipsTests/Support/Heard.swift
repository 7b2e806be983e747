import Synchronization

/// Revisions that were announced.
final class Heard: Sendable {
    private let state = Mutex<[Int]>([])

    var revisions: [Int] { state.withLock { $0 } }

    func add(_ revision: Int) { state.withLock { $0.append(revision) } }
}
