import SharedStore

/// What one server does at a time: a name, who holds it, and until when, by the clock of PostgreSQL.
///
/// A server that goes away holds a lease until its time is over. Who must not act after that asks for it in the
/// transaction that ends the work (``isHeld(_:by:_:)``).
struct SharedLeases: Sendable {
    let database: SharedDatabase

    /// Takes a lease that no other holder has, or renews one.
    ///
    /// - Returns: False if another holder has it.
    /// - Throws: `SharedStoreError`, `CancellationError`.
    func take(_ name: String, for holder: String, lasting time: Duration) async throws -> Bool {
        try await database.write(turns: [name]) { try Self.take(name, for: holder, lasting: time, $0) }
    }

    /// Ends a lease; nothing happens if another holder has it.
    ///
    /// - Throws: `SharedStoreError`, `CancellationError`.
    func release(_ name: String, by holder: String) async throws {
        try await database.write(turns: [name]) { try Self.release(name, by: holder, $0) }
    }

    static func take(
        _ name: String,
        for holder: String,
        lasting time: Duration,
        _ transaction: SQLTransaction
    ) throws -> Bool {
        try transaction.execute(taking, [name, holder, Int64(time / .milliseconds(1))]) > 0
    }

    /// Whether a holder has a lease, which no other takes before the end of the transaction.
    static func isHeld(_ name: String, by holder: String, _ transaction: SQLTransaction) throws -> Bool {
        try transaction.rows(selecting, [name, holder]).first != nil
    }

    static func release(_ name: String, by holder: String, _ transaction: SQLTransaction) throws {
        try transaction.execute("DELETE FROM disk_lease WHERE name = $1 AND holder = $2", [name, holder])
    }

    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"
    private static let taking = """
        INSERT INTO disk_lease (name, holder, until) VALUES ($1, $2, \(now) + $3)
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE disk_lease.until < \(now) OR disk_lease.holder = excluded.holder
        """
    private static let selecting = """
        SELECT 1 AS held FROM disk_lease WHERE name = $1 AND holder = $2 AND until >= \(now) FOR UPDATE
        """
}
