import Foundation
import GRDB
import Logging
import Synchronization

/// Removes the files of blobs according to committed rows.
///
/// Each deletion of a blob's row records its id in `removed_blob`, by a trigger in the same transaction. After a
/// commit, and at start, the files of recorded ids that no row names are removed.
///
/// It runs on the writer's queue only, so no row can begin to name a file between the check and the removal. A `kill
/// -9` at any moment leaves the record or the file's absence, and removing twice does no harm.
///
/// A finished file keeps its unfinished name until a commit has named it; that name is removed here, too.
final class BlobRemoval: Sendable {
    /// How a transaction ended.
    enum Outcome {
        case committed
        /// It cannot be found committed later.
        case rolledBack
        /// SQLite reported an error while it committed; after a crash it may be found committed.
        case unknown
    }

    private struct State {
        /// Finished blobs that the current transaction has given a row.
        var attempted: [BlobClaim] = []
        /// Discarded files of transactions with an unknown outcome.
        var doubtful: [BlobID] = []
        /// Files that a committed row names and that may still have their unfinished name.
        var settled: [BlobID] = []
        /// Records up to this one were examined in this process.
        var lastNote: Int64 = 0
        /// Records are deleted when there are so many; more after a failed deletion, as on a full disk.
        var batch = BlobRemoval.batch
        /// Records whose files are removed. They are deleted in batches, so that they cost no fsync of their own.
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

    /// Number of records that are deleted together.
    static let batch = 64

    private let folder: String
    private let logger: Logger
    private let state = Mutex(State())

    init(folder: String, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    /// Adds a claim to the current transaction, whose outcome settles it.
    func attempt(_ claim: BlobClaim) {
        claim.attempt()
        state.withLock { $0.attempted.append(claim) }
    }

    /// Settles the claims of a transaction that has ended.
    func end(_ outcome: Outcome) {
        let claims = state.withLock { state in
            defer { state.attempted = [] }
            return state.attempted
        }
        for claim in claims { claim.settle(outcome) }
    }

    /// Registers a file that is removed if it turns out that no row names it.
    func doubt(_ id: BlobID) {
        state.withLock { $0.doubtful.append(id) }
    }

    /// Registers a file that a committed row names.
    func settle(_ id: BlobID) {
        state.withLock { $0.settled.append(id) }
    }

    /// Removes a file, its finished name first.
    ///
    /// - Returns: Whether it no longer exists; otherwise `errno` has the reason.
    func removeFile(_ id: BlobID) -> Bool {
        guard unlink("\(folder)/\(id.fileName)") == 0 || errno == ENOENT else { return false }
        // A name that cannot be removed now is removed at the next start.
        unlink("\(folder)/\(id.unfinishedName)")
        return true
    }

    /// Removes the files that the commits so far allow to remove. After a failure the record stays, and the removal is
    /// tried again.
    ///
    /// - Parameters:
    ///   - lastWrite: At start, when the database was last written. A file that has changed since then was put there by
    ///     a restore, after its record was made. It stays, as all files that no row names, and the record is deleted.
    ///   - isLast: Whether no call follows, so that no record waits for a batch.
    func run(_ db: Database, lastWrite: timespec? = nil, isLast: Bool = false) {
        let steps = [
            noteDoubtful, { try self.removeNoted($0, lastWrite: lastWrite) },
            { _ in self.removeUnfinishedNames() }, { try self.forgetDone($0, isLast: isLast) },
        ]
        for step in steps {
            do {
                try step(db)
            } catch is CancellationError {
                // The task that has written was cancelled after its commit; the next commit removes the files.
            } catch {
                logger.warning("Files of removed blobs stay for now", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Records the discarded files of transactions with an unknown outcome. The transaction that does so has
    /// overwritten the frames of those in the write-ahead log: from its commit on, the rows are authoritative.
    private func noteDoubtful(_ db: Database) throws {
        let doubtful = state.withLock { $0.doubtful }
        guard !doubtful.isEmpty else { return }
        var settled: [BlobID] = []
        try db.inTransaction {
            for id in doubtful {
                try db.cachedStatement(sql: Self.insertDoubtful).execute(arguments: [id])
                if db.changesCount == 0 { settled.append(id) }
            }
            return .commit
        }
        state.withLock { state in
            state.doubtful.removeFirst(doubtful.count)
            state.settled += settled
        }
    }

    /// Removes the unfinished names of files that committed rows name. Names that cannot be removed are tried again
    /// after the next commit.
    private func removeUnfinishedNames() {
        let settled = state.withLock(\.settled)
        let removed = settled.prefix { unlink("\(folder)/\($0.unfinishedName)") == 0 || errno == ENOENT }
        if !removed.isEmpty { state.withLock { $0.settled.removeFirst(removed.count) } }
    }

    private func removeNoted(_ db: Database, lastWrite: timespec?) throws {
        let last = state.withLock { $0.lastNote }
        let notes = try Row.fetchAll(db.cachedStatement(sql: Self.selectNotes), arguments: [last])
        for note in notes {
            let (number, id, isNamed) = try (note.value(0) as Int64, note.value(1) as BlobID, note.value(2) as Bool)
            let path = "\(folder)/\(id.fileName)"
            if isNamed || lastWrite.map({ Self.hasChanged(path, since: $0) }) == true || removeFile(id) {
                state.withLock { $0.done.append(number) }
            } else {
                let error = StorageError.system(errno, path: path, operation: "unlink")
                // The record stays, and the next start tries again.
                logger.warning("A blob's file could not be removed", metadata: ["blob": "\(id)", "error": "\(error)"])
            }
            state.withLock { $0.lastNote = number }
        }
    }

    /// Returns whether a file has received its name or content after a moment.
    private static func hasChanged(_ path: String, since moment: timespec) -> Bool {
        guard let changed = fileStatus(path)?.st_ctim else { return false }
        return (changed.tv_sec, changed.tv_nsec) > (moment.tv_sec, moment.tv_nsec)
    }

    private func forgetDone(_ db: Database, isLast: Bool) throws {
        let (done, batch) = state.withLock { ($0.done, $0.batch) }
        guard !done.isEmpty, isLast || done.count >= batch else { return }
        // If this fails, the next attempt is a batch later: not each commit pays for an fsync and a warning.
        state.withLock { $0.batch = done.count + Self.batch }
        // A loss of power must not restore a file that no record names any more.
        try OpenFile.synchronizeDirectory(folder)
        try db.inTransaction {
            for note in done { try db.cachedStatement(sql: Self.deleteNote).execute(arguments: [note]) }
            return .commit
        }
        state.withLock { state in
            state.done.removeFirst(done.count)
            state.batch = Self.batch
        }
    }

    static let selectNotes =
        "SELECT note, blob, blob IN (SELECT id FROM blob) FROM removed_blob WHERE note > ? ORDER BY note"
    static let deleteNote = "DELETE FROM removed_blob WHERE note = ?"
    static let insertDoubtful =
        "INSERT INTO removed_blob (blob) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM blob WHERE id = ?1)"
}
