import Foundation
import Synchronization

/// Owns the file of a finished blob until a committed row names it. Without such a row the file is removed with the
/// last reference.
///
/// A file is unlinked at once only if its id was in no transaction that may have been committed. SQLite can report a
/// failure of a commit whose frames are already complete in the write-ahead log, for instance if the fsync after them
/// fails; after a kill, the next start finds the transaction committed. In that case ``BlobRemoval`` decides later.
///
/// Until then the file has its unfinished name, too, so that the next start finds it if the process is killed. The
/// finished name is removed first, so an interrupted removal leaves an unfinished file.
final class BlobClaim: Sendable {
    private enum State {
        /// No row was written, or its transaction has certainly been rolled back.
        case unnamed
        /// A transaction has written a row, and has not ended.
        case attempted
        /// A transaction with its row ended, and whether it was committed is not known.
        case doubtful
        /// A committed row names it, or it was discarded: nothing remains to be done.
        case settled
    }

    let id: BlobID
    let checksums: BlobChecksums
    private let removal: BlobRemoval
    private let state = Mutex(State.unnamed)

    init(_ id: BlobID, _ checksums: BlobChecksums, removal: BlobRemoval) {
        self.id = id
        self.checksums = checksums
        self.removal = removal
    }

    deinit {
        discard()
    }

    /// Records that a transaction has written a row that names the file.
    func attempt() {
        state.withLock { if case .unnamed = $0 { $0 = .attempted } }
    }

    /// Records how the transaction ended.
    func settle(_ outcome: BlobRemoval.Outcome) {
        state.withLock { state in
            switch (state, outcome) {
            case (.attempted, .committed), (.doubtful, .committed):
                state = .settled
                removal.settle(id)
            case (.attempted, .rolledBack): state = .unnamed
            case (.attempted, .unknown): state = .doubtful
            // The end of a later transaction says nothing about an earlier one.
            case (.doubtful, _), (.unnamed, _), (.settled, _): break
            }
        }
    }

    /// Removes the file unless a row names it or may name it.
    func discard() {
        let last = state.withLock { state in
            defer { state = .settled }
            return state
        }
        switch last {
        case .unnamed: if !removal.removeFile(id) { removal.doubt(id) }
        case .attempted, .doubtful: removal.doubt(id)
        case .settled: break
        }
    }
}
