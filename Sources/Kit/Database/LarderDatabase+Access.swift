public import GRDB

extension LarderDatabase {
    /// Reads one consistent state. Blocks the calling thread for as long as the query takes, but never for a writer.
    ///
    /// There is only this form, because the hop to another thread and back costs more than a small query: 43 against 34
    /// µs of a request that reads 4 KB. A long query in a task is better sent through `pool.read`, which suspends.
    /// - Throws: ``StorageError``, or what `value` throws.
    public func read<Value>(_ value: (Database) throws -> Value) throws -> Value {
        do {
            return try pool.read(value)
        } catch {
            throw translating(error)
        }
    }

    /// Changes the database in one transaction, and returns when it is on the disk; an error takes everything back.
    ///
    /// Blocks the calling thread while other writers are at it and until the disk has answered. In tasks the suspending
    /// form is meant.
    /// - Throws: ``StorageError``, or what `updates` throws.
    public func write<Value>(_ updates: (Database) throws -> Value) throws -> Value {
        do {
            return try pool.writeWithoutTransaction { try transact($0, updates) }
        } catch {
            throw translating(error)
        }
    }

    /// Changes the database in one transaction, and returns when it is on the disk; an error or a cancelled task takes
    /// everything back.
    ///
    /// - Throws: ``StorageError``, `CancellationError`, or what `updates` throws.
    public func write<Value: Sendable>(_ updates: @Sendable @escaping (Database) throws -> Value) async throws -> Value
    {
        do {
            return try await pool.writeWithoutTransaction { try self.transact($0, updates) }
        } catch {
            throw translating(error)
        }
    }
}
