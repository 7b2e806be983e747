/// A step of the schema that servers share. Steps are applied in the given order, each once.
///
/// A released step is never changed; a later one corrects it. Servers of an older build run on while and after a step
/// is applied, and are started beside newer ones, so a step only adds. A step that does not only add gets a new owner:
/// a build refuses a database with steps of an owner that it does not know.
package struct PostgresMigration: Sendable {
    /// The unique name, owner first: `notes/001 notes`. The database records it when the step was applied.
    package let name: String
    let sql: String

    /// Creates a step that is one SQL script.
    package init(_ name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}

extension PostgresDatabase {
    /// Applies the steps that the database does not have, all or none. Servers that start at the same time wait for
    /// each other.
    ///
    /// - Parameters:
    ///   - migrations: the steps of all apps of this build.
    ///   - timeout: the time that all of it may take.
    /// - Returns: the names of the steps that were applied.
    @discardableResult
    package func migrate(_ migrations: [PostgresMigration], timeout: Duration = .seconds(600)) async throws -> [String]
    {
        var names: Set<String> = []
        for migration in migrations where !names.insert(migration.name).inserted {
            throw ClusterError.ambiguousMigration(name: migration.name)
        }
        return try await write(locks: [Self.schemaLock], within: timeout) { transaction in
            let applied = try Self.applied(transaction)
            try Self.check(applied, migrations)
            let missing = migrations.filter { !applied.contains($0.name) }
            for migration in missing {
                try transaction.execute(script: migration.sql)
                try transaction.execute("INSERT INTO larder_migration (name) VALUES ($1)", [migration.name])
            }
            return missing.map(\.name)
        }
    }

    /// Returns the steps that ``migrate(_:timeout:)`` would apply, and changes nothing.
    package func missing(of migrations: [PostgresMigration]) async throws -> [String] {
        let applied = try await read { transaction -> Set<String> in
            let table = try transaction.rows("SELECT to_regclass('larder_migration') IS NOT NULL AS is_there")
            guard try table.first?.value("is_there") == true else { return [] }
            return Set(try transaction.rows("SELECT name FROM larder_migration").map { try $0.value("name") })
        }
        try Self.check(applied, migrations)
        return migrations.map(\.name).filter { !applied.contains($0) }
    }

    private static func check(_ applied: Set<String>, _ migrations: [PostgresMigration]) throws {
        func owner(_ name: String) -> Substring { name.prefix { $0 != "/" } }
        let owners = Set(migrations.map { owner($0.name) })
        let unknown = applied.filter { !owners.contains(owner($0)) }
        guard unknown.isEmpty else { throw ClusterError.newerSchema(unknownMigrations: unknown.sorted()) }
    }

    private static func applied(_ transaction: SQLTransaction) throws -> Set<String> {
        try transaction.execute(
            script: """
                CREATE TABLE IF NOT EXISTS larder_migration (
                    name text COLLATE "C" PRIMARY KEY,
                    applied_at timestamptz NOT NULL DEFAULT now()
                )
                """
        )
        return Set(try transaction.rows("SELECT name FROM larder_migration").map { try $0.value("name") })
    }
}
