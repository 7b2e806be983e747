public import GRDB

extension LarderDatabase {
    /// Changes the database in one transaction that deletes more than it adds, as ``write(_:)-(_)`` does, also if the
    /// disk is full: then it uses a reserve, and `updates` runs a second time.
    ///
    /// - Throws: ``StorageError``, `CancellationError`, or what `updates` throws.
    public func writeFreeingRoom<Value: Sendable>(_ updates: @Sendable @escaping (Database) throws -> Value)
        async throws -> Value
    {
        do {
            let value = try await write(updates)
            // One that was lost, or given up while there was no room to take it again.
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
        // What the log has taken goes into pages that the database has already, so that the next deletion finds the
        // reserve again. A reader may hinder it for now; the deletion is done either way.
        _ = try? db.checkpoint(.truncate)
        return value
    }
}
