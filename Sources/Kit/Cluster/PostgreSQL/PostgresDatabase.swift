package import Foundation
package import Logging

/// A database that several servers share: PostgreSQL, for the data of users.
///
/// A transaction waits for its connection and the server on a thread of its own, never on one of Swift's pool. It has a
/// time limit, after which it fails with ``ClusterError``; an acknowledged change was committed.
package final class PostgresDatabase: Sendable {
    /// When the operations of a task are to have ended, each of which has `options.timeout` at most.
    @TaskLocal package static var end: ContinuousClock.Instant?

    package let options: PostgresOptions
    private let pool: ConnectionPool
    private let logger: Logger

    /// Creates a database. Its connections are opened when they are needed.
    ///
    /// - Parameter logger: receives which messages to other servers were lost.
    package init(_ options: PostgresOptions, logger: Logger) {
        self.options = options
        self.logger = logger
        pool = ConnectionPool(options)
    }

    /// Reads one state of the database; all reads within `value` are of the same.
    ///
    /// - Throws: ``ClusterError``, `CancellationError`, or an error of `value`.
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
    /// - Throws: ``ClusterError``, `CancellationError`, or an error of `transform`.
    package func rows<Value: Sendable>(
        _ sql: String,
        _ parameters: [any SQLParameter] = [],
        _ transform: @escaping @Sendable (SQLRow) throws -> Value
    ) async throws -> [Value] {
        try await statement { try $0.rows(sql, parameters).map(transform) }
    }

    /// Runs one statement that reads, without a transaction around it.
    func statement<Value: Sendable>(
        _ value: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await pool.run(within: options.timeout) { try value(SQLTransaction($0)) }
    }

    /// Changes the database in one transaction and returns after its commit. An error rolls it back.
    ///
    /// - Parameters:
    ///   - locks: names of rows that the change has for itself, such as `notes/ACCOUNT`. Changes with a name in common
    ///     run one after the other, on all servers, and see each other's results. Without any, the change is
    ///     serializable.
    ///   - timeout: the time that it may take, if that is not the usual one.
    ///   - updates: the change. It is run again if another one was committed first, so it has no effect elsewhere.
    /// - Throws: ``ClusterError``, `CancellationError`, or an error of `updates`.
    @discardableResult
    package func write<Value: Sendable>(
        locks: [String] = [],
        within timeout: Duration? = nil,
        _ updates: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        let (timeout, standard) = (timeout ?? options.timeout, options.timeout)
        let plan = TransactionPlan(locks: locks, timeout: timeout, standardTimeout: standard)
        return try await pool.run(within: timeout) { connection in
            let change = try connection.write(plan, updates)
            self.notify(change.messages, through: connection)
            return change.value
        }
    }

    /// Sends messages to every listening server, including this one.
    ///
    /// - Parameter messages: at most 7,999 bytes each.
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
    @Sendable package func time() async throws -> Date {
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now"
        let milliseconds: Int64 = try await statement { try $0.row(sql).value("now") }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Refuses a pooler that lends a session of the server for each transaction or statement, as PgBouncer does in two
    /// of its modes. Settings, prepared statements and messages belong to a session.
    package func checkSessions() async throws {
        try await pool.run(within: options.timeout) { [options] connection in
            do {
                let other = try PostgresConnection.open(options)
                for _ in 0..<8 {
                    guard try connection.session() == other.session() else { continue }
                    throw ClusterError.serverUnusable(
                        "a pooler before it must keep sessions (PgBouncer: pool_mode = session)"
                    )
                }
            } catch let failure as ConnectionFailure {
                throw failure.error
            }
        }
    }

    /// The lock of migrations, for changes that must not run beside one (``write(locks:within:_:)``).
    package static let schemaLock = "larder/migrations"

    /// Returns how many other connections have the name of servers.
    package static func servers(in transaction: SQLTransaction) throws -> Int {
        try transaction.rows(
            """
            SELECT count(*) AS servers FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()
            """,
            [PostgresOptions(url: "").name]
        ).first?.value("servers") ?? 0
    }

    /// Closes the connections. Later use throws ``ClusterError/closed``.
    package func close() { pool.close() }

    /// Sends messages to the servers after the commit, in a transaction of its own. A transaction with a message holds
    /// a lock of the whole PostgreSQL server during its commit, and that of a change may wait for a standby.
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

/// How a store is reached and used.
package struct PostgresOptions: Sendable {
    /// The address, as libpq takes it: `postgresql://larder@host/larder`, or
    /// `postgresql:///larder?host=/run/postgresql`. One host: which of several is the primary, a proxy decides.
    package var url: String
    /// Most connections at a time, without that of a ``ChangeListener``.
    package var connections = 16
    /// The longest time of one transaction, connecting included.
    package var timeout = Duration.seconds(3)
    /// Most callers that wait for a connection.
    package var maximumWaiting = 1000
    /// The name under which the server lists the connections.
    package var name = "larder"
    package var channel = "larder"
    /// Looks up the address of the server.
    package var lookup = HostLookup()

    /// Creates options with the defaults.
    package init(url: String) {
        self.url = url
    }

    /// Whether the address names several servers: libpq takes a host and its address (`hostaddr`) for one.
    package var hasSeveralHosts: Bool { hostLists.contains { $0.hosts.count > 1 } }

    /// The name of the server, if its address has to be looked up.
    var hostName: String? {
        guard url.contains("://"), !hostLists.contains(where: { $0.key == "hostaddr" }),
            let host = hostLists.last(where: { !$0.hosts.isEmpty })?.hosts.first, !host.isEmpty, !Self.isSocket(host)
        else { return nil }
        var bytes = in6_addr()
        return inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1 ? nil : host
    }

    /// Names, addresses and folders of sockets by which libpq reaches the server: of the authority, `host`, `hostaddr`.
    private var hostLists: [(key: Substring, hosts: [String])] {
        let rest = url.components(separatedBy: "://").last ?? ""
        let authority = rest.prefix { !"/?".contains($0) }.split(separator: "@", omittingEmptySubsequences: false).last
        let named = (authority ?? "").split(separator: ",").map { host in
            let name = host.hasPrefix("[") ? host.dropFirst().prefix { $0 != "]" } : host.prefix { $0 != ":" }
            return name.removingPercentEncoding ?? String(name)
        }
        let query = (rest.split(separator: "?", maxSplits: 1).dropFirst().first ?? "").split(separator: "&")
        let queried = query.filter { $0.hasPrefix("host=") || $0.hasPrefix("hostaddr=") }.map { pair in
            let value = pair.drop { $0 != "=" }.dropFirst()
            let hosts = (value.removingPercentEncoding ?? String(value)).split(separator: ",").map { String($0) }
            return (pair.prefix { $0 != "=" }, hosts)
        }
        return [("host", named)] + queried
    }

    /// Whether connections are encrypted or fail: the address names another machine, and no `sslmode`.
    package var requiresTLS: Bool {
        let isLocal = hostLists.flatMap(\.hosts).allSatisfy { host in
            Self.isSocket(host) || host.hasPrefix("127.") || ["localhost", "::1"].contains(host)
        }
        return !isLocal && !url.contains("sslmode=")
    }

    private static func isSocket(_ host: String) -> Bool { host.hasPrefix("/") || host.hasPrefix("@") }
}

/// The load of a store from this server, and the failures so far.
package struct StoreLoad: Sendable, Equatable {
    /// Operations that failed, by their consequence for the caller.
    package struct Failures: Sendable, Equatable {
        /// The store did not respond, or accepted no change.
        package private(set) var unavailable = 0
        /// A commit was not confirmed.
        package private(set) var outcomeUnknown = 0
        /// The server refused a statement.
        package private(set) var refused = 0

        mutating func count(_ error: ClusterError) {
            switch error {
            case .unavailable, .diskFull: unavailable += 1
            case .outcomeUnknown: outcomeUnknown += 1
            case .refused, .noSuchColumn, .typeMismatch, .newerSchema, .libraryUnusable, .serverUnusable: refused += 1
            case .notUnique, .textNotStorable, .ambiguousMigration, .closed: break
            }
        }
    }

    /// Operations that have a connection.
    package let running: Int
    /// Operations that wait for one.
    package let waiting: Int
    package let failures: Failures
}
