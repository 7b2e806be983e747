import GRDB
import Logging

extension LarderDatabase {
    /// Removes the file of a finished blob whose row was not written, because the transaction that was to do it has failed. A blob that is known stays:
    /// whatever the failure was, a row's file is there.
    public func discard(_ blob: Blob) {
        do {
            let isKnown = try read { try Int.fetchOne($0.cachedStatement(sql: "SELECT 1 FROM blob WHERE id = ?"), arguments: [blob.id]) != nil }
            if !isKnown { try blobs.remove(blob.id) }
        } catch {
            logger.warning("A blob's file could not be removed", metadata: ["blob": "\(blob.id)", "error": "\(error)"])  // The next start does it.
        }
    }
}
