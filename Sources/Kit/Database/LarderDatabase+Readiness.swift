import GRDB

extension LarderDatabase {
    /// Whether it answers: one small read. For readiness probes; ``checkIntegrity()`` looks at everything.
    ///
    /// - Throws: ``StorageError``.
    public func checkReadiness() throws {
        try read { db in try db.execute(sql: "SELECT 1") }
    }
}
