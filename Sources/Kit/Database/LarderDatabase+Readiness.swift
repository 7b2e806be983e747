import GRDB

extension LarderDatabase {
    /// Runs one small read, for readiness probes. ``checkIntegrity()`` checks everything.
    ///
    /// - Throws: ``StorageError``.
    public func checkReadiness() throws {
        try read { db in try db.execute(sql: "SELECT 1") }
    }
}
