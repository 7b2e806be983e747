import Foundation
import GRDB
import Logging
import Synchronization

/// Removes the files of blobs by what is committed: each deletion of a blob's row notes its id in `removed_blob`, by a
/// trigger in the same transaction; after a commit, and at start, the files of noted ids go that no row names.
///
/// It works on the writer's queue only, so no row can begin to name a file between the look and the removal. A `kill
/// -9` at any moment leaves the note or the file's absence, and removing twice does no harm.
final class BlobRemoval: Sendable {
    /// How a transaction ended.
    enum Outcome {
        case committed
        /// Nothing of it can be committed any more.
        case rolledBack
        /// SQLite reported an error while it committed; after a crash it may be found committed.
        case unknown
    }

    private struct State {
        /// Finished blobs that the transaction under way has given a row.
        var attempted: [BlobClaim] = []
        /// Files that nobody wants, of transactions whose outcome is not known.
        var doubtful: [BlobID] = []
        /// Notes up to here were looked at in this process.
        var lastNote: Int64 = 0
        /// Notes whose files are gone, to be deleted in batches: they cost no fsync of their own.
        var done: [Int64] = []
    }

    static let migrations = [
        SchemaMigration(
            "storage/007 removed blobs",
            sql: """
                CREATE TABLE removed_blob (
                    note INTEGER PRIMARY KEY AUTOINCREMENT,
                    blob INTEGER NOT NULL           -- its file is to be removed, unless a row names it
                ) STRICT;

                CREATE TRIGGER blob_deleted AFTER DELETE ON blob BEGIN
                    INSERT INTO removed_blob (blob) VALUES (old.id);
                END;
                """
        )
    ]

    /// Notes that are kept until they are deleted together.
    static let batch = 64

    private let folder: String
    private let logger: Logger
    private let state = Mutex(State())

    init(folder: String, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    /// Takes part in the transaction under way: its outcome settles the claim.
    func attempt(_ claim: BlobClaim) {
        claim.attempt()
        state.withLock { $0.attempted.append(claim) }
    }

    /// Ends a transaction.
    func end(_ outcome: Outcome) {
        let claims = state.withLock { state in
            defer { state.attempted = [] }
            return state.attempted
        }
        for claim in claims { claim.settle(outcome) }
    }

    /// Keeps in mind a file that is to go, if it turns out that no row names it.
    func doubt(_ id: BlobID) {
        state.withLock { $0.doubtful.append(id) }
    }

    /// Removes what the commits so far allow to remove. What fails stays noted, and is tried again.
    ///
    /// - Parameters:
    ///   - lastWrite: at start, when the database was last written. A file that has changed since was put there after
    ///     its note was made, by a restore: it stays, as files do that no row names, and the note goes.
    ///   - isLast: whether nothing comes after it, so that no note is kept for a batch.
    func run(_ db: Database, lastWrite: timespec? = nil, isLast: Bool = false) {
        let steps = [
            noteDoubtful, { try self.removeNoted($0, lastWrite: lastWrite) },
            { try self.forgetDone($0, from: isLast ? 1 : Self.batch) },
        ]
        for step in steps {
            do {
                try step(db)
            } catch is CancellationError {
                // The task that has written was cancelled behind its commit; the next commit does it.
            } catch {
                logger.warning("Files of removed blobs stay for now", metadata: ["error": "\(error)"])
            }
        }
    }

    /// A transaction that is committed after the one in doubt has overwritten that one's frames in the write-ahead log:
    /// from now on the rows say what is true.
    private func noteDoubtful(_ db: Database) throws {
        let doubtful = state.withLock { $0.doubtful }
        guard !doubtful.isEmpty else { return }
        try db.inTransaction {
            for id in doubtful { try db.cachedStatement(sql: Self.insertDoubtful).execute(arguments: [id]) }
            return .commit
        }
        state.withLock { $0.doubtful.removeFirst(doubtful.count) }
    }

    private func removeNoted(_ db: Database, lastWrite: timespec?) throws {
        let last = state.withLock { $0.lastNote }
        let notes = try Row.fetchAll(db.cachedStatement(sql: Self.selectNotes), arguments: [last])
        for note in notes {
            let (number, id, isNamed) = (note[0] as Int64, BlobID(number: note[1]), note[2] as Bool)
            let path = "\(folder)/\(id.fileName)"
            if isNamed || lastWrite.map({ Self.hasChanged(path, since: $0) }) == true || unlink(path) == 0
                || errno == ENOENT
            {
                state.withLock { $0.done.append(number) }
            } else {
                let error = StorageError.system(errno, path: path, operation: "unlink")
                // The note stays, and the next start tries again.
                logger.warning("A blob's file could not be removed", metadata: ["blob": "\(id)", "error": "\(error)"])
            }
            state.withLock { $0.lastNote = number }
        }
    }

    /// Whether a file has got its name or content after a moment.
    private static func hasChanged(_ path: String, since moment: timespec) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        let changed = status.st_ctim
        return (changed.tv_sec, changed.tv_nsec) > (moment.tv_sec, moment.tv_nsec)
    }

    /// When the database or its log was last written; nil if there is neither.
    static func lastWrite(of database: String) -> timespec? {
        let times = ["", "-wal"].compactMap { suffix -> timespec? in
            var status = stat()
            return lstat(database + suffix, &status) == 0 ? status.st_mtim : nil
        }
        return times.max { ($0.tv_sec, $0.tv_nsec) < ($1.tv_sec, $1.tv_nsec) }
    }

    private func forgetDone(_ db: Database, from count: Int) throws {
        let done = state.withLock { $0.done }
        guard done.count >= count else { return }
        // A loss of power shall not bring back a file that no note speaks of any more.
        try OpenFile.synchronizeDirectory(folder)
        try db.inTransaction {
            for note in done { try db.cachedStatement(sql: Self.deleteNote).execute(arguments: [note]) }
            return .commit
        }
        state.withLock { $0.done.removeFirst(done.count) }
    }

    static let selectNotes =
        "SELECT note, blob, blob IN (SELECT id FROM blob) FROM removed_blob WHERE note > ? ORDER BY note"
    static let deleteNote = "DELETE FROM removed_blob WHERE note = ?"
    static let insertDoubtful =
        "INSERT INTO removed_blob (blob) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM blob WHERE id = ?1)"
}
