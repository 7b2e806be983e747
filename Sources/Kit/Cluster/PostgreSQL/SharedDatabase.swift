package import Foundation
package import Logging

/// A database that several servers share: PostgreSQL, for the data of users.
///
/// A transaction waits for its connection and the server on a thread of its own, never on one of Swift's pool. It has a
/// time limit, after which it fails with ``SharedStoreError``; an acknowledged change was committed.
package final class SharedDatabase: Sendable {
    /// When the operations of a task are to have ended, each of which has `options.timeout` at most.
    @TaskLocal package static var end: ContinuousClock.Instant?

    package let options: SharedDatabaseOptions
    private let pool: ConnectionPool
    private let logger: Logger

    /// Creates a database. Its connections are opened when they are needed.
    ///
    /// - Parameter logger: receives which messages to other servers were lost.
    package init(_ options: SharedDatabaseOptions, logger: Logger) {
        self.options = options
        self.logger = logger
        pool = ConnectionPool(options)
    }

    /// Reads one state of the database; all reads within `value` are of the same.
    ///
    /// - Throws: ``SharedStoreError``, `CancellationError`, or an error of `value`.
    package func read<Value: Sendable>(
        _ value: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await pool.run(within: options.timeout) { try $0.read(value) }
    }

    /// Reads the rows of one statement, which takes a single round trip.
    ///
    /// - Parameters:
    ///   - sql: the text, a constant of the program: `$1` is the first parameter.
    ///   - transform: makes a value of each row.
    /// - Throws: ``SharedStoreError``, `CancellationError`, or an error of `transform`.
    package func rows<Value: Sendable>(
        _ sql: String,
        _ parameters: [any SQLParameter] = [],
        _ transform: @escaping @Sendable (SQLRow) throws -> Value
    ) async throws -> [Value] {
        try await pool.run(within: options.timeout) { connection in
            try SQLTransaction(connection).rows(sql, parameters).map(transform)
        }
    }

    /// Changes the database in one transaction and returns after its commit. An error rolls it back.
    ///
    /// - Parameters:
    ///   - turns: names of rows that the change has for itself, such as `notes/ACCOUNT`: changes with a name in common
    ///     run one after the other, on all servers, and see each other's results. Without any, the change is
    ///     serializable.
    ///   - timeout: the time that it may take, if that is not the usual one.
    ///   - updates: the change. It is run again if another one came in between, so it has no effect elsewhere.
    /// - Throws: ``SharedStoreError``, `CancellationError`, or an error of `updates`.
    @discardableResult
    package func write<Value: Sendable>(
        locks: [String] = [],
        within timeout: Duration? = nil,
        _ updates: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        var plan = TransactionPlan(options, locks: locks)
        if let timeout { plan.timeout = timeout }
        return try await write(plan, updates)
    }

    /// Sends messages to every listening server, including this one.
    ///
    /// - Parameter messages: at most 7,999 bytes each.
    /// - Throws: ``SharedStoreError``, `CancellationError`.
    package func notify(_ messages: [String]) async throws {
        let parameters: [any SQLParameter] = [options.channel, messages]
        try await pool.run(within: options.timeout) { connection in
            do { _ = try connection.run(Self.telling, parameters) } catch let failure as ConnectionFailure {
                throw failure.error
            }
        }
    }

    /// The operations of this server that run and wait now, and the failures so far.
    package var load: StoreLoad { get async { await pool.load } }

    /// Returns the time of the server's clock.
    ///
    /// - Throws: ``SharedStoreError``, `CancellationError`.
    @Sendable package func time() async throws -> Date {
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now"
        let times: [Int64] = try await rows(sql) { try $0.value("now") }
        guard let milliseconds = times.first else { throw SharedStoreError.noSuchColumn("now") }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Refuses a pooler that lends a session of the server for each transaction or statement, as PgBouncer does in two
    /// of its modes: settings, prepared statements and messages belong to a session.
    ///
    /// - Throws: ``SharedStoreError``, `CancellationError`.
    package func checkSessions() async throws {
        try await pool.run(within: options.timeout) { [options] connection in
            do {
                let other = try PostgresConnection.open(options)
                for _ in 0..<8 {
                    guard try connection.session() == other.session() else { continue }
                    throw SharedStoreError.serverUnusable(
                        "a pooler before it must keep sessions (PgBouncer: pool_mode = session)"
                    )
                }
            } catch let failure as ConnectionFailure {
                throw failure.error
            }
        }
    }

    /// The turn of migrations, for changes that must not run beside one (``write(locks:within:_:)``).
    package static let schemaLock = "larder/migrations"

    /// Returns how many other connections have the name of servers.
    ///
    /// - Throws: ``SharedStoreError``.
    package static func servers(in transaction: SQLTransaction) throws -> Int {
        try transaction.rows(
            """
            SELECT count(*) AS servers FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()
            """,
            [SharedDatabaseOptions(url: "").name]
        ).first?.value("servers") ?? 0
    }

    /// Closes the connections. Later use throws ``SharedStoreError/closed``.
    package func close() { pool.close() }

    func write<Value: Sendable>(
        _ plan: TransactionPlan,
        _ updates: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await pool.run(within: plan.timeout) { connection in
            let change = try connection.write(plan, updates)
            self.notify(change.messages, through: connection)
            return change.value
        }
    }

    /// Tells the servers after the commit, in a transaction of its own: one that has a message holds a lock of the
    /// whole server during its commit, and that of a change may wait for a standby.
    private func notify(_ messages: [String], through connection: PostgresConnection) {
        guard !messages.isEmpty else { return }
        do {
            _ = try connection.run(Self.telling, [options.channel, messages])
        } catch {
            logger.warning("messages to other servers were lost", metadata: ["error": "\(error)"])
        }
    }

    private static let telling = """
        SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, message)
        FROM unnest($2) AS message
        """
}
