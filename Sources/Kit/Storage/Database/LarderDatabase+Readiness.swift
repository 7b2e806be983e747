import GRDB
import Synchronization

extension LarderDatabase {
    /// Runs one small read, for readiness probes, and throws the damage that a check of the pages has found.
    ///
    /// - Throws: ``StorageError``.
    package func checkReadiness() throws {
        try read { db in try db.execute(sql: "SELECT 1") }
        if let damage = damage.withLock(\.self) { throw damage }
    }
}
