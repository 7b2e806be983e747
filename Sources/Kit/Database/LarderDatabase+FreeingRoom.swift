public import GRDB

extension LarderDatabase {
    /// Changes the database in one transaction that deletes more than it adds, as ``write(_:)-(_)`` does. Works on a
    /// full disk, too: it then uses a reserve and runs `updates` a second time.
    ///
    /// - Throws: ``StorageError``, `CancellationError`, or what `updates` throws.
    public func writeFreeingRoom<Value: Sendable>(_ updates: @Sendable @escaping (Database) throws -> Value)
        async throws -> Value
    {
        do {
            let value = try await write(updates)
            // The reserve was lost, or released while there was no space to allocate it again.
            if !reserve.isWhole { reserve.take() }
            return value
        } catch StorageError.diskFull {
            do {
                return try await pool.writeWithoutTransaction { try self.transactFromReserve($0, updates) }
            } catch {
                throw translating(error)
            }
        }
    }

    private func transactFromReserve<Value>(_ db: Database, _ updates: (Database) throws -> Value) throws -> Value {
        try reserve.release()
        defer { reserve.take() }
        let value = try transact(db, updates)
        // Moves the log into existing pages of the database, so that the reserve can be allocated again. A reader may
        // prevent it for now; the deletion is committed in any case.
        _ = try? db.checkpoint(.truncate)
        return value
    }
}
