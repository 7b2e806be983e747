package import GRDB

extension LarderDatabase {
    /// Reads one consistent state. Blocks the calling thread while the query runs, but never for a writer.
    ///
    /// Reads within `value` are of the same state, in the same transaction.
    ///
    /// There is no suspending form, because switching to another thread and back costs more than a small query: 43
    /// against 34 µs for a request that reads 4 KB.
    ///
    /// - Throws: ``StorageError``, or an error of `value`.
    package func read<Value>(_ value: (Database) throws -> Value) throws -> Value {
        do {
            return try readers.read(value)
        } catch {
            throw translating(error)
        }
    }

    /// Changes the database in one transaction and returns when it is on the disk. An error rolls it back.
    ///
    /// Blocks the calling thread while other writers run and until the disk has responded. Tasks use the suspending
    /// form.
    /// - Throws: ``StorageError``, or an error of `updates`.
    package func write<Value>(_ updates: (Database) throws -> Value) throws -> Value {
        do {
            return try pool.writeWithoutTransaction { try transact($0, updates) }
        } catch {
            throw translating(error)
        }
    }

    /// Changes the database in one transaction and returns when it is on the disk. An error or cancellation rolls it
    /// back.
    ///
    /// - Throws: ``StorageError``, `CancellationError`, or an error of `updates`.
    package func write<Value: Sendable>(_ updates: @Sendable @escaping (Database) throws -> Value) async throws -> Value
    {
        do {
            return try await pool.writeWithoutTransaction { try self.transact($0, updates) }
        } catch {
            throw translating(error)
        }
    }
}
