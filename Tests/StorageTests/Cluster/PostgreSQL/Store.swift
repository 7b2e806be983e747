import Cluster
import Logging
import TestKit

/// A schema of a test's own, as one of several servers uses it.
struct Store {
    let options: PostgresOptions
    let database: PostgresDatabase

    /// Opens a new schema of a server.
    init(on server: RunningPostgres? = nil, _ configure: (inout PostgresOptions) -> Void = { _ in }) async throws {
        let shared = try await RunningPostgres.shared.value
        let server = server ?? shared
        let schema = try server.schema()
        var options = PostgresOptions(url: "\(server.address())&options=-csearch_path%3D\(schema)")
        // Longer than the slowest machine takes for anything that is not meant to be late.
        options.timeout = .seconds(60)
        (options.name, options.channel) = (schema, schema)
        configure(&options)
        self.options = options
        database = PostgresDatabase(options, logger: .quiet)
    }

    /// Opens the same schema as another server does.
    func other(_ configure: (inout PostgresOptions) -> Void = { _ in }) -> PostgresDatabase {
        var options = options
        configure(&options)
        return PostgresDatabase(options, logger: .quiet)
    }

    /// Creates the table of the tests.
    func withCounters() async throws -> Store {
        try await database.migrate([
            PostgresMigration("test/001", sql: "CREATE TABLE counter (name text PRIMARY KEY, value int8 NOT NULL)")
        ])
        return self
    }

    /// The counters of the table, by name.
    func counters() async throws -> [String: Int] {
        let rows = try await database.rows("SELECT name, value FROM counter") { row in
            (name: try row.value("name") as String, value: try row.value("value") as Int)
        }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.value) })
    }
}

extension SQLTransaction {
    /// Reads a counter, and writes the next number: updates would be lost if two callers did it at the same time.
    func increment(_ name: String) throws {
        let value: Int? = try rows("SELECT value FROM counter WHERE name = $1", [name]).first?.value("value")
        try execute(
            "INSERT INTO counter VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [name, (value ?? 0) + 1]
        )
    }
}
