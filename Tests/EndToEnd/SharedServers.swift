import Foundation
import TestKit

/// A database, and the processes that use it.
struct SharedServers {
    /// Where the database is.
    let url: String
    private let server: RunningPostgres
    private let apps: String

    /// - Parameter apps: The apps that the processes serve.
    init(_ apps: String) async throws {
        server = try await RunningPostgres.shared.value
        url = try server.database()
        self.apps = apps
    }

    /// Starts a process with a folder of its own.
    func start(_ settings: [String] = []) async throws -> RunningLarder {
        try await RunningLarder.start(
            data: TemporaryFolder(),
            [
                "--sandbox", "--node-apps", apps, "--store-url", url, "--store-connections", "4",
                "--store-timeout-ms", "20000", "--notes-scrypt-logarithm", "10",
            ] + settings
        )
    }

    /// Runs a statement in the database, and returns the rows that it selects.
    @discardableResult
    func sql(_ statement: String) async throws -> String { try await RunningPostgres.sql(statement, at: url) }

    /// Whether processes can connect to the database. Open connections stay.
    func allowConnections(_ isAllowed: Bool) async throws {
        try await RunningPostgres.sql("ALTER DATABASE \(name) ALLOW_CONNECTIONS \(isAllowed)", at: server.address())
    }

    /// Ends the connections on which processes listen.
    func endListeners() async throws -> Int {
        let ended = try await RunningPostgres.sql(
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = '\(name)' AND (query LIKE 'LISTEN %' OR query = 'SELECT 1')
            """,
            at: server.address()
        )
        return Int(ended) ?? 0
    }

    /// Ends all connections of processes.
    func endConnections() async throws {
        try await RunningPostgres.sql(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(name)'",
            at: server.address()
        )
    }

    private var name: String { url.split(separator: "?")[0].split(separator: "/").last.map { String($0) } ?? "" }
}
