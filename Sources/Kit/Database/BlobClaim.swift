import Foundation
import Synchronization

/// The file of a finished blob until a committed row names it. Without one, the file goes with the last reference.
///
/// A file is unlinked at once only if its id was in no transaction that may have been committed. SQLite can report a
/// failure of a commit whose frames are whole in the write-ahead log already, for instance if the fsync behind them
/// fails; a process that is killed then finds the transaction committed at its next start. In that case ``BlobRemoval``
/// decides later.
final class BlobClaim: Sendable {
    private enum State {
        /// No row was written, or its transaction has certainly been rolled back.
        case unnamed
        /// A transaction has written a row, and has not ended.
        case attempted
        /// A transaction with its row ended, and whether it was committed is not known.
        case doubtful
        /// A committed row names it, or it was given up: nothing is left to do.
        case settled
    }

    let id: BlobID
    private let path: String
    private let removal: BlobRemoval
    private let state = Mutex(State.unnamed)

    init(_ id: BlobID, path: String, removal: BlobRemoval) {
        self.id = id
        self.path = path
        self.removal = removal
    }

    deinit {
        giveUp()
    }

    /// Notes that a transaction has written a row that names it.
    func attempt() {
        state.withLock { if case .unnamed = $0 { $0 = .attempted } }
    }

    /// Notes how the transaction ended.
    func settle(_ outcome: BlobRemoval.Outcome) {
        state.withLock { state in
            switch (state, outcome) {
            case (.attempted, .committed), (.doubtful, .committed): state = .settled
            case (.attempted, .rolledBack): state = .unnamed
            case (.attempted, .unknown): state = .doubtful
            // The end of a later transaction tells nothing of an earlier one.
            case (.doubtful, _), (.unnamed, _), (.settled, _): break
            }
        }
    }

    /// Removes the file unless a row names it, or may name it.
    func giveUp() {
        let last = state.withLock { state in
            defer { state = .settled }
            return state
        }
        switch last {
        case .unnamed: if unlink(path) != 0, errno != ENOENT { removal.doubt(id) }
        case .attempted, .doubtful: removal.doubt(id)
        case .settled: break
        }
    }
}
