import GRDB
import Logging

/// Removes the files of blobs once the transaction that deleted their rows is on the disk; whichever statement, trigger or cascade deleted them.
///
/// GRDB calls it on the writer's queue only, so its state needs no lock.
final class BlobFileRemoval: TransactionObserver {
    private let blobs: BlobStore
    private let logger: Logger
    private var deleted: [BlobID] = []

    init(blobs: BlobStore, logger: Logger) {
        self.blobs = blobs
        self.logger = logger
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        if case .delete(tableName: "blob") = eventKind { return true }
        return false
    }

    func databaseDidChange(with event: DatabaseEvent) {
        deleted.append(BlobID(number: event.rowID))
    }

    func databaseDidCommit(_ db: Database) {
        for id in deleted {
            do {
                try blobs.remove(id)
            } catch {
                // The change itself has succeeded. The next start finds a file without a row and removes it.
                logger.warning("A blob's file could not be removed", metadata: ["blob": "\(id)", "error": "\(error)"])
            }
        }
        deleted = []
    }

    func databaseDidRollback(_ db: Database) {
        deleted = []
    }
}
